// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** The admission reviews among the resources, as an API server sends them. */
public final class Reviews {

    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/runtime/admission");

    private Reviews() {}

    /** Returns the reviews that are answered, each with the message if it is refused, or null. */
    static List<Arguments> answers() {
        return read("answers.txt")
                .lines()
                .map(line -> line.split(" [|] ?", -1))
                .map(row -> Arguments.of(row[0], row[1].isEmpty() ? null : row[1]))
                .toList();
    }

    public static String text(String name) {
        return read(name + ".json");
    }

    private static String read(String file) {
        try {
            return Files.readString(FOLDER.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".json"))
                    .map(name -> name.replace(".json", ""))
                    .sorted()
                    .toList();
        }
    }
}
