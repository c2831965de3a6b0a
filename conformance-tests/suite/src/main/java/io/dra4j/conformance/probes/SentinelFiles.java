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

    private static final String KIND = "sentinel.dra-conformance.example.org/file";

    private final Map<Path, Sentinel> sentinels = new LinkedHashMap<>();

    private record Sentinel(byte[] content, Object inode) {}

    /** Specs of another vendor, in both forms, and a file that is no spec. */
    public static SentinelFiles ofCdi(Path folder) throws IOException {
        SentinelFiles sentinels = new SentinelFiles();
        sentinels.add(folder.resolve("sentinel-" + ProcessHandle.current().pid() + ".json"), """
                {"cdiVersion": "0.3.0", "kind": "%s",
                 "devices": [{"name": "json", "containerEdits": {"env": ["SENTINEL=1"]}}]}
                """.formatted(KIND));
        sentinels.add(folder.resolve("sentinel-" + ProcessHandle.current().pid() + ".yaml"), """
                cdiVersion: 0.3.0
                kind: %s
                devices: [{name: yaml, containerEdits: {env: [SENTINEL=2]}}]
                """.formatted(KIND));
        sentinels.add(folder.resolve("sentinel.txt"), "no spec at all\n");
        return sentinels;
    }

    private void add(Path file, String content) throws IOException {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        Files.write(file, bytes);
        sentinels.put(file, new Sentinel(bytes, Files.getAttribute(file, "unix:ino")));
    }

    /** Finds all of them as they were. */
    public void live() throws IOException {
        for (Map.Entry<Path, Sentinel> sentinel : sentinels.entrySet()) {
            try {
                boolean same = Arrays.equals(
                                Files.readAllBytes(sentinel.getKey()),
                                sentinel.getValue().content())
                        && Files.getAttribute(sentinel.getKey(), "unix:ino")
                                .equals(sentinel.getValue().inode());
                Violation.unless(same).because("%s, a file of others, was changed", sentinel.getKey());
            } catch (NoSuchFileException e) {
                throw new Violation(sentinel.getKey() + ", a file of others, was removed");
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Path file : sentinels.keySet()) {
            Files.deleteIfExists(file);
        }
    }
}
