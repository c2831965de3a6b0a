// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.UUID;

/** The files of a service account in a pod, written as the kubelet does. */
public final class ServiceAccountFiles {

    private ServiceAccountFiles() {}

    /**
     * Writes {@code ca.crt}, {@code namespace} and a new {@code token}; existing files are replaced atomically.
     *
     * <p>Each is a link to a file below the link {@code ..data}, which is replaced by renaming.
     */
    public static void write(Path folder, String namespace, String authority) throws IOException {
        Path data = Files.createDirectories(folder.resolve(".." + UUID.randomUUID()));
        String token = "dra-conformance-" + UUID.randomUUID();
        Map<String, String> files = Map.of("ca.crt", authority, "namespace", namespace, "token", token);
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(data.resolve(file.getKey()), file.getValue());
        }
        Path link = folder.resolve("..data");
        Path old = Files.isSymbolicLink(link) ? folder.resolve(Files.readSymbolicLink(link)) : data;
        Path made = Files.createSymbolicLink(folder.resolve("..data_tmp"), data.getFileName());
        Files.move(made, link, StandardCopyOption.ATOMIC_MOVE);
        for (String name : files.keySet()) {
            if (!Files.isSymbolicLink(folder.resolve(name))) {
                Files.createSymbolicLink(folder.resolve(name), Path.of("..data", name));
            }
        }
        if (!old.equals(data)) {
            for (String name : files.keySet()) {
                Files.deleteIfExists(old.resolve(name));
            }
            Files.deleteIfExists(old);
        }
    }
}
