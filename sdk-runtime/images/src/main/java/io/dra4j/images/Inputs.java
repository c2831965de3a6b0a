// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The settings of a build; docs-site/reference/images.md describes those for vendors. */
record Inputs(Map<String, String> values) {

    private static final List<String> NAMES = List.of(
            "architectures base description driver emulator jar jdk jvm-options licenses modules name repository sbom target time training version"
                    .split(" "));

    /** Reads arguments such as {@code --version=1.0}; the last one of a name counts. */
    static Inputs of(String... words) {
        Map<String, String> values = new TreeMap<>();
        for (String word : words) {
            String[] parts = word.split("=", 2);
            String name = parts[0].replaceFirst("^--", "");
            if (!NAMES.contains(name)) {
                throw new ImageBuildException("Unknown setting %s; the settings of an image are --%s"
                        .formatted(word, String.join(", --", NAMES)));
            }
            values.put(name, parts.length == 2 ? parts[1] : "");
        }
        return new Inputs(values);
    }

    /** The folder whose commit is recorded; for our images, the root of the repository. */
    Path repository() {
        return path(value("repository", ""));
    }

    /** The jar of a vendor's driver; empty to build the images of this repository. */
    Optional<Path> jar() {
        return given("jar").map(Inputs::path);
    }

    /** The folder for all output. */
    Path target() {
        return path(value("target", "target"));
    }

    Path images() {
        return target().resolve("images");
    }

    String version() {
        return given("version").orElseThrow(() -> new ImageBuildException("--version=... is missing"));
    }

    /** The time of all files and of the images. */
    Instant time() {
        return Instant.parse(value("time", "1980-01-01T00:00:00Z"));
    }

    /** The home of a JDK 25; if empty, it is searched for. */
    String jdk() {
        return value("jdk", "");
    }

    List<Machine> architectures() {
        return given("architectures")
                .map(names -> Stream.of(names.split(",")).map(Machine::named).toList())
                .orElse(List.of(Machine.current()));
    }

    /** {@code packages}, a registry's reference, or {@code tar:FILE}. */
    String base() {
        return value("base", "packages");
    }

    /** Returns a value; empty if it is not given or empty. */
    Optional<String> given(String name) {
        return Optional.of(values.getOrDefault(name, "").strip()).filter(value -> !value.isEmpty());
    }

    /** Returns a value, or another if it is not given or empty. */
    String value(String name, String otherwise) {
        return given(name).orElse(otherwise);
    }

    /** Returns the words of a value, separated by spaces or line breaks. */
    List<String> words(String name) {
        return given(name).map(value -> List.of(value.split("\\s+"))).orElse(List.of());
    }

    private static Path path(String path) {
        return Path.of(path).toAbsolutePath().normalize();
    }
}
