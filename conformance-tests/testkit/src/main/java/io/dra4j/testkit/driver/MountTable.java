// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The bind mounts of a mount namespace as {@code mount --all --fstab} reads them.
 *
 * <p>A path that the host does not have gets its place without a trace on the host: the deepest
 * directory above it that exists is covered by a copy, in which each entry of the original is bind
 * mounted again beside what is new. What the driver creates in the copy itself stays there.
 */
final class MountTable {

    private final Path folder;
    private final List<String> lines = new ArrayList<>();

    /**
     * @param folder a directory for the copies
     */
    MountTable(Path folder) {
        this.folder = folder;
    }

    /** Writes the table of these mounts, and makes what they need. */
    void write(Path file, Map<String, Path> mounts) {
        Map<Path, Map<Path, Path>> byParent =
                new TreeMap<>(Comparator.comparingInt(Path::getNameCount).thenComparing(Comparator.naturalOrder()));
        mounts.forEach((path, source) -> {
            Path above = existing(Path.of(path));
            byParent.computeIfAbsent(real(above), parent -> new TreeMap<>())
                    .put(above.relativize(Path.of(path)), source);
        });
        try {
            for (Map.Entry<Path, Map<Path, Path>> parent : byParent.entrySet()) {
                add(parent.getKey(), parent.getValue());
            }
            Files.write(file, lines);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't prepare mounts in " + folder, e);
        }
    }

    /** The deepest part of a path that exists. */
    static Path existing(Path path) {
        Path above = path.toAbsolutePath().normalize();
        while (!Files.exists(above)) {
            above = above.getParent();
        }
        return above;
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException("Can't resolve " + path, e);
        }
    }

    private void add(Path parent, Map<Path, Path> sources) throws IOException {
        Path here = Path.of("");
        if (sources.keySet().equals(Set.of(here))) {
            bind(sources.get(here), parent, "rbind");
            return;
        }
        if (parent.getParent() == null) {
            throw new DriverUnusable("Can't mount anything at /%s: create its top directory on the host first"
                    .formatted(sources.keySet().iterator().next()));
        }
        Path copy = Files.createDirectories(folder.resolve("copies").resolve("" + lines.size()));
        repeat(sources.getOrDefault(here, parent), copy);
        for (Map.Entry<Path, Path> source : sources.entrySet()) {
            if (!source.getKey().equals(here)) {
                Path place = copy.resolve(source.getKey());
                hold(source.getValue(), place);
                bind(source.getValue(), place, "rbind");
            }
        }
        bind(copy, parent, "rbind");
    }

    /** Has each entry of a directory in its copy, too. */
    private void repeat(Path original, Path copy) throws IOException {
        Files.setPosixFilePermissions(copy, Files.getPosixFilePermissions(original));
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(original)) {
            for (Path entry : entries) {
                Path place = copy.resolve(entry.getFileName());
                if (Files.isSymbolicLink(entry)) {
                    Files.createSymbolicLink(place, Files.readSymbolicLink(entry));
                } else {
                    hold(entry, place);
                    bind(entry, place, "rbind,nofail"); // it may go at any time
                }
            }
        }
    }

    private static void hold(Path source, Path place) throws IOException {
        if (Files.isDirectory(source)) {
            Files.createDirectories(place);
        } else {
            Files.createDirectories(place.getParent());
            Files.createFile(place);
        }
    }

    private void bind(Path source, Path target, String options) {
        lines.add("%s %s none %s 0 0".formatted(escaped(source), escaped(target), options));
    }

    /** A path in the form of fstab, whose fields end at white space. */
    private static String escaped(Path path) {
        return path.toString()
                .replace("\\", "\\134")
                .replace(" ", "\\040")
                .replace("\t", "\\011")
                .replace("\n", "\\012")
                .replace("#", "\\043");
    }
}
