// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;

/**
 * The file in which a kubelet keeps its claims, as it is once the kubelet has lost its state and
 * has started again: it is intact, and no claim is in it.
 *
 * <p>Only in directories of the run's own; where a driver finds its directories by mounts, it does
 * not see the file, as in most pods.
 */
public record LostKubeletState(Path file, boolean isSeen) implements AutoCloseable {

    private static final Path IN_PODS = Path.of("/var/lib/kubelet/plugins");
    private static final String NONE =
            "{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v1\",\"ClaimInfoStateList\":[]}";

    public LostKubeletState(TestContext context) {
        this(
                context.place().plugins().resolveSibling("dra_manager_state"),
                context.place().plugins().startsWith(context.place().root())
                        && context.place().outside(IN_PODS).equals(IN_PODS));
    }

    /** Writes the file. */
    public void lose() throws IOException {
        CRC32 sum = new CRC32();
        sum.update(NONE.getBytes(StandardCharsets.UTF_8));
        if (isSeen) {
            Files.writeString(
                    file, "{\"Data\":\"%s\",\"Checksum\":%d}".formatted(NONE.replace("\"", "\\\""), sum.getValue()));
        }
    }

    @Override
    public void close() throws IOException {
        if (isSeen) {
            Files.deleteIfExists(file);
        }
    }
}
