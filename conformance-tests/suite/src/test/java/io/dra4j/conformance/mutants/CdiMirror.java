// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The saboteur of the CDI directory: the driver writes into another one, and what the runtime sees
 * is a copy of that with a fault.
 */
final class CdiMirror {

    boolean active;
    boolean deletes = true;
    long delay;
    UnaryOperator<String> change = UnaryOperator.identity();
    Put put = CdiMirror::replace;
    private Path source;
    private Path target;
    private Path names;

    /** Puts a file at its place. */
    @FunctionalInterface
    interface Put {
        void at(Path file, String content) throws IOException;
    }

    /** Returns the directory that the driver has to use. */
    Path between(Settings settings) throws IOException {
        target = settings.cdi();
        source = Files.createDirectories(settings.data().resolve("cdi"));
        names = settings.data().resolve("mirrored");
        return source;
    }

    /** Makes the copy like the source. */
    void copy() {
        if (active && delay > 0) {
            Pauses.later(delay, this::copyNow);
        } else if (active) {
            copyNow();
        }
    }

    private synchronized void copyNow() {
        try {
            Files.createDirectories(target);
            Set<String> gone = new TreeSet<>(known());
            for (Path file : sources()) {
                gone.remove(file.getFileName().toString());
                bring(file);
            }
            for (String name : deletes ? gone : Set.<String>of()) {
                Files.deleteIfExists(target.resolve(name));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.list(source)) {
            return files.filter(file -> !file.getFileName().toString().startsWith(".")).toList();
        }
    }

    private List<String> known() throws IOException {
        return Files.exists(names) ? Files.readAllLines(names) : List.of();
    }

    private void bring(Path file) throws IOException {
        Path copy = target.resolve(file.getFileName());
        String content = change.apply(Files.readString(file));
        if (Files.exists(copy) && Files.readString(copy).equals(content)) {
            return;
        }
        List<String> all = new ArrayList<>(known());
        all.add(copy.getFileName().toString());
        Files.write(names, new TreeSet<>(all));
        put.at(copy, content);
    }

    private static void replace(Path file, String content) throws IOException {
        Path next = Files.writeString(file.resolveSibling("." + file.getFileName()), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
