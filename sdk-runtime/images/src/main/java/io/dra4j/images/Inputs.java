// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * The settings of a build.
 *
 * @param repository the root of the repository
 * @param target the folder for all that is written
 * @param version the version of the programs
 * @param time the time of all files and of the images
 * @param jdk the home of a JDK 25, or nothing: then it is looked for
 * @param base {@code packages}, a registry's reference, or {@code tar:FILE}
 */
record Inputs(Path repository, Path target, String version, Instant time, String jdk, String base) {

    /**
     * Reads words such as {@code --version=1.0}.
     *
     * @throws ImageBuildException if one is missing
     */
    static Inputs of(String... words) {
        Map<String, String> values = new HashMap<>();
        for (String word : words) {
            String[] parts = word.split("=", 2);
            values.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        return new Inputs(
                Path.of(value(values, "--repository")).toAbsolutePath().normalize(),
                Path.of(value(values, "--target")).toAbsolutePath().normalize(),
                value(values, "--version"),
                Instant.parse(value(values, "--time")),
                value(values, "--jdk"),
                value(values, "--base"));
    }

    /** The folder of the archives. */
    Path images() {
        return target.resolve("images");
    }

    private static String value(Map<String, String> values, String name) {
        String value = values.get(name);
        if (value == null) {
            throw new ImageBuildException(name + "=... is missing");
        }
        return value;
    }
}
