// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folders of one play, under one that is removed in the end.
 *
 * <p>Its path is short, since the path of a socket has 107 bytes at most.
 */
record Folders(Path root, Path plugins, Path registry, Path cdi) implements AutoCloseable {

    static Folders create() {
        try {
            Path root = Files.createTempDirectory(Path.of("/tmp"), "dra4j-");
            return new Folders(
                    root,
                    Files.createDirectory(root.resolve("plugins")),
                    Files.createDirectory(root.resolve("registry")),
                    Files.createDirectory(root.resolve("cdi")));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make the folders of the play under /tmp", e);
        }
    }

    /** The way to the API server for people; drivers have one through the proxy. */
    Path kubeconfig() {
        return root.resolve("kubeconfig.kubectl");
    }

    /** The place of a driver, of which there may be several. */
    Place place(String node, String driver) {
        return Place.of(root, node, driver, registry, plugins, cdi);
    }

    /** The sockets that a driver has left or keeps open. */
    List<Path> sockets() {
        return Stream.of(plugins, registry)
                .flatMap(folder -> below(folder).stream())
                .filter(file -> file.getFileName().toString().endsWith(".sock"))
                .toList();
    }

    /** Everything below a folder, deepest first; nothing if it is gone. */
    static List<Path> below(Path folder) {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> !file.equals(folder))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + folder, e);
        }
    }

    @Override
    public void close() {
        try {
            for (Path file : below(root)) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(root);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + root, e);
        }
    }
}
