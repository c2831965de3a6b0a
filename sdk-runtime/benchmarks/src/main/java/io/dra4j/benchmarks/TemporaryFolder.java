// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder that is removed with its content.
 *
 * @param path where it is
 */
public record TemporaryFolder(Path path) implements AutoCloseable {

    public static TemporaryFolder make() throws IOException {
        return new TemporaryFolder(Files.createTempDirectory("dra4j-benchmark"));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.delete(file);
            }
        }
    }
}
