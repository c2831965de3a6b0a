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
    private static final Pattern FOUND = Pattern.compile("(?m)^\\s*(?:\\S+ => )?(/\\S+) \\(0x");

    private static final Pattern NAMED = Pattern.compile("\\(NEEDED\\).*\\[(.+)]");

    private static final Pattern LOST = Pattern.compile("(?m)^\\s*(\\S+) => not found");

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
        try (InputStream content = Files.newInputStream(file)) {
            return Arrays.equals(content.readNBytes(MAGIC.length), MAGIC);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read " + file, e);
        }
    }

    /**
     * Finds the libraries that files of the build machine are linked with; the JVM's library is
     * there before others of the JDK name it.
     */
    static Set<Path> needed(List<Path> files) {
        Set<Path> needed = new TreeSet<>();
        for (Path file : files) {
            String printed = Tool.tried(List.of("ldd", file.toString())).orElse(""); // static: 1
            Matcher lost = LOST.matcher(printed);
            while (lost.find()) {
                String name = lost.group(1);
                if (files.stream().noneMatch(other -> other.endsWith(name))) {
                    throw new ImageBuildException(file + " needs " + name + ", which is not there");
                }
            }
            Matcher found = FOUND.matcher(printed);
            while (found.find()) {
                needed.add(Path.of(found.group(1)).normalize());
            }
        }
        return needed;
    }

    /** Finds the libraries that files of another architecture, and these libraries themselves, are linked with. */
    static Set<Path> needed(List<Path> files, Debian debian) {
        Set<Path> needed = new TreeSet<>();
        Deque<Path> open = new ArrayDeque<>(files);
        while (!open.isEmpty()) {
            Path file = open.remove();
            Matcher named = NAMED.matcher(Tool.output(List.of("readelf", "--dynamic", "--wide", file.toString())));
            while (named.find()) {
                String name = named.group(1);
                if (files.stream().anyMatch(other -> other.endsWith(name))) {
                    continue;
                }
                Path library = debian.library(debian.machine().libraries() + "/" + name);
                if (!Files.exists(library)) {
                    throw new ImageBuildException(file + " needs " + name + ", which no package of the base has");
                }
                if (needed.add(library)) {
                    open.add(library);
                }
            }
        }
        return needed;
    }
}
