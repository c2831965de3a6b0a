// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32;

/** The kubelet's own file of the claims of the node's pods: JSON in JSON, with a CRC-32. */
public record KubeletStateFile(Path path) {

    /** Returns the file of the kubelet that has a directory of plugins. */
    public static KubeletStateFile of(Path plugins) {
        return new KubeletStateFile(plugins.resolveSibling("dra_manager_state"));
    }

    /** Writes the file with some claims, as JSON objects, replacing the previous one. */
    public void write(String... claims) {
        writeVersion("v1", String.join(",", claims));
    }

    /** Writes the file in a version of the format. */
    public void writeVersion(String version, String claims) {
        String data =
                "{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/%s\",\"ClaimInfoStateList\":[%s]}"
                        .formatted(version, claims);
        CRC32 sum = new CRC32();
        sum.update(data.getBytes(StandardCharsets.UTF_8));
        String file = "{\"Data\":\"%s\",\"Checksum\":%s}".formatted(data.replace("\"", "\\\""), sum.getValue());
        try {
            Path next = Files.writeString(path.resolveSibling(path.getFileName() + ".new"), file);
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
