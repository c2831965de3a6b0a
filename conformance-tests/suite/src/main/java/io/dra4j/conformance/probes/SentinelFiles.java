// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Violation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Files of others, which a driver must leave as they are; they go when this is closed. */
public final class SentinelFiles implements AutoCloseable {

    private static final String KIND = "canary.dra-conformance.example.org/bird";

    private final Map<Path, Canary> canaries = new LinkedHashMap<>();

    private record Canary(byte[] content, Object inode) {}

    /** Specs of another vendor, in both forms, and a file that is no spec. */
    public static SentinelFiles ofCdi(Path folder) throws IOException {
        SentinelFiles canaries = new SentinelFiles();
        canaries.add(
                folder.resolve("canary-" + ProcessHandle.current().pid() + ".json"),
                """
                {"cdiVersion": "0.3.0", "kind": "%s",
                 "devices": [{"name": "json", "containerEdits": {"env": ["CANARY=1"]}}]}
                """
                        .formatted(KIND));
        canaries.add(
                folder.resolve("canary-" + ProcessHandle.current().pid() + ".yaml"),
                """
                cdiVersion: 0.3.0
                kind: %s
                devices: [{name: yaml, containerEdits: {env: [CANARY=2]}}]
                """
                        .formatted(KIND));
        canaries.add(folder.resolve("canary.txt"), "no spec at all\n");
        return canaries;
    }

    private void add(Path file, String content) throws IOException {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        Files.write(file, bytes);
        canaries.put(file, new Canary(bytes, Files.getAttribute(file, "unix:ino")));
    }

    /** Finds all of them as they were. */
    public void live() throws IOException {
        for (Map.Entry<Path, Canary> canary : canaries.entrySet()) {
            try {
                boolean same =
                        Arrays.equals(
                                        Files.readAllBytes(canary.getKey()),
                                        canary.getValue().content())
                                && Files.getAttribute(canary.getKey(), "unix:ino")
                                        .equals(canary.getValue().inode());
                Violation.unless(same, "%s, a file of others, was changed", canary.getKey());
            } catch (NoSuchFileException e) {
                throw new Violation(canary.getKey() + ", a file of others, was removed");
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Path file : canaries.keySet()) {
            Files.deleteIfExists(file);
        }
    }
}
