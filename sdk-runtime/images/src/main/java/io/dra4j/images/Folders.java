// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/** Folders of the build. */
final class Folders {

    private Folders() {}

    static Path make(Path folder) {
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't create " + folder, e);
        }
    }

    /** Copies a file, replacing an existing one. */
    static void copy(Path from, Path to) {
        try {
            Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write " + to, e);
        }
    }

    /** Reads a file that comes with this package. */
    static String packaged(String name) {
        try (InputStream file = Folders.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read " + name, e);
        }
    }

    /** Reads a file with a value for each key; empty if there is none. */
    static Properties properties(Path file) {
        Properties properties = new Properties();
        if (Files.isReadable(file)) {
            try (Reader text = Files.newBufferedReader(file)) {
                properties.load(text);
            } catch (IOException e) {
                throw new UncheckedIOException("Can't read " + file, e);
            }
        }
        return properties;
    }

    static void remove(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Can't remove " + folder, e);
        }
    }
}
