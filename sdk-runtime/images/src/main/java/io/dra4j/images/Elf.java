// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Programs and libraries in the form of Linux. */
final class Elf {

    private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F'};
    private static final int E_MACHINE = 18;

    private static final Pattern NAMED = Pattern.compile("\\(NEEDED\\).*\\[(.+)]");

    private Elf() {}

    /** Finds all of them in a folder. */
    static List<Path> files(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(Elf::isElf)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean isElf(Path file) {
        return Arrays.equals(begin(file, MAGIC.length), MAGIC);
    }

    private static byte[] begin(Path file, int size) {
        try (InputStream content = Files.newInputStream(file)) {
            return content.readNBytes(size);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read " + file, e);
        }
    }

    /**
     * Checks that all of them in a stage are for an architecture.
     *
     * @throws ImageBuildException if one is for another
     */
    static void require(Machine machine, Stage stage) {
        for (Path file : files(stage.root())) {
            byte[] header = begin(file, E_MACHINE + Short.BYTES);
            int found = header[E_MACHINE] & 0xff; // the lowest byte comes first, and the numbers of both fit into it
            if (found != machine.elf()) {
                throw new ImageBuildException(
                        "/%1$s can't be in an image for %2$s, because it is for another architecture (%3$d in ELF's numbers, not %4$d): take the file for %2$s, or build images for the other by -Dimage.architectures"
                                .formatted(
                                        stage.root().relativize(file), machine.architecture(), found, machine.elf()));
            }
        }
    }

    /**
     * Finds the libraries of an installation that files, and these libraries themselves, are linked with; neither those
     * among the files, nor the loader.
     *
     * @throws ImageBuildException if one is not there
     */
    static Set<Path> needed(List<Path> files, Debian debian) {
        Machine machine = debian.machine();
        Set<Path> needed = new TreeSet<>();
        Deque<Path> open = new ArrayDeque<>(files);
        while (!open.isEmpty()) {
            Path file = open.remove();
            Matcher named = NAMED.matcher(Tool.output(List.of("readelf", "--dynamic", "--wide", file.toString())));
            while (named.find()) {
                String name = named.group(1);
                if (machine.loader().endsWith("/" + name) || files.stream().anyMatch(other -> other.endsWith(name))) {
                    continue;
                }
                Path library = debian.library(machine.libraries() + "/" + name);
                if (!Files.exists(library)) {
                    throw new ImageBuildException(file + " needs " + name + ", which is not at " + library);
                }
                if (needed.add(library)) {
                    open.add(library);
                }
            }
        }
        return needed;
    }
}
