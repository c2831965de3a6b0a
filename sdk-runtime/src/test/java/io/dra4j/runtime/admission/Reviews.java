// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The admission reviews among the resources, as an API server sends them. */
public final class Reviews {

    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/runtime/admission");

    private Reviews() {}

    public static String text(String name) {
        try {
            return Files.readString(FOLDER.resolve(name + ".json"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString().replace(".json", ""))
                    .sorted()
                    .toList();
        }
    }
}
