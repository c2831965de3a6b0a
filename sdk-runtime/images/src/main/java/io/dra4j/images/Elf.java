// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** 64-bit ELF programs and libraries of Linux. */
final class Elf {

    private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F'};
    private static final int E_MACHINE = 18;
    private static final Pattern GLIBC = Pattern.compile("GLIBC_2\\.(\\d+)");

    // Offsets, sizes and values of elf.h; the low half of a 64-bit value comes first, and is enough in files below 2
    // GB.
    private static final int E_PHOFF = 32;
    private static final int E_PHNUM = 56;
    private static final int PHDR_SIZE = 56;
    private static final int P_OFFSET = 8;
    private static final int P_VADDR = 16;
    private static final int P_FILESZ = 32;
    private static final int PT_LOAD = 1;
    private static final int PT_DYNAMIC = 2;
    private static final int DYN_SIZE = 16;
    private static final int D_VAL = 8;
    private static final int DT_NULL = 0;
    private static final int DT_NEEDED = 1;
    private static final int DT_STRTAB = 5;

    private Elf() {}

    /** Finds all 64-bit ELF files in a folder. */
    static List<Path> files(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> Arrays.equals(begin(file, MAGIC.length), MAGIC))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] begin(Path file, int size) {
        try (InputStream content = Files.newInputStream(file)) {
            return content.readNBytes(size);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read " + file, e);
        }
    }

    /** Checks that all ELF files in a stage are for an architecture. */
    static void require(Machine machine, Stage stage) {
        for (Path file : files(stage.root())) {
            byte[] header = begin(file, E_MACHINE + Short.BYTES);
            int found = header[E_MACHINE] & 0xff; // the low byte comes first, and is enough for both numbers
            if (found != machine.elf()) {
                throw new ImageBuildException(
                        "/%1$s can't be in an image for %2$s, because it is for another architecture (%3$d in ELF's numbers, not %4$d): use the file for %2$s, or build images for the other architecture with -Dimage.architectures"
                                .formatted(
                                        stage.root().relativize(file), machine.architecture(), found, machine.elf()));
            }
        }
    }

    /**
     * Finds the libraries in an installation that files are linked with, directly or indirectly. The files themselves
     * and the loader are left out.
     */
    static Set<Path> needed(List<Path> files, Debian debian) {
        Machine machine = debian.machine();
        Set<Path> needed = new TreeSet<>();
        Deque<Path> open = new ArrayDeque<>(files);
        while (!open.isEmpty()) {
            Path file = open.remove();
            for (String name : linked(file)) {
                if (isKnown(name, files, machine)) {
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

    /** Reads the names of the libraries that files are linked with, except for the files themselves and the loader. */
    static List<String> linked(List<Path> files, Machine machine) {
        return files.stream()
                .flatMap(file -> linked(file).stream())
                .filter(name -> !isKnown(name, files, machine))
                .distinct()
                .toList();
    }

    private static boolean isKnown(String name, List<Path> files, Machine machine) {
        return machine.loader().endsWith("/" + name) || files.stream().anyMatch(file -> file.endsWith(name));
    }

    /** Reads the names of the libraries that a file is linked with. */
    private static List<String> linked(Path file) {
        byte[] bytes = begin(file, Integer.MAX_VALUE);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        ByteBuffer elf = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<String> linked = new ArrayList<>();
        try {
            for (int dynamic : headers(elf, PT_DYNAMIC)) {
                for (int name : values(elf, dynamic, DT_NEEDED)) {
                    int begin = offset(elf, values(elf, dynamic, DT_STRTAB)[0]) + name;
                    linked.add(text.substring(begin, text.indexOf(0, begin)));
                }
            }
            return linked;
        } catch (IndexOutOfBoundsException e) {
            throw new ImageBuildException(file + " is not a complete 64-bit program or library: install it again", e);
        }
    }

    /** Returns the newest release of glibc, such as 36 for 2.36, that a file names: one that it needs, or its own. */
    static int glibc(byte[] file) {
        return GLIBC.matcher(new String(file, StandardCharsets.ISO_8859_1))
                .results()
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .max()
                .orElse(0);
    }

    private static int[] headers(ByteBuffer elf, int type) {
        return IntStream.range(0, elf.getShort(E_PHNUM))
                .map(i -> elf.getInt(E_PHOFF) + i * PHDR_SIZE)
                .filter(header -> elf.getInt(header) == type)
                .toArray();
    }

    private static int[] values(ByteBuffer elf, int dynamic, int tag) {
        return IntStream.iterate(elf.getInt(dynamic + P_OFFSET), at -> elf.getInt(at) != DT_NULL, at -> at + DYN_SIZE)
                .filter(at -> elf.getInt(at) == tag)
                .map(at -> elf.getInt(at + D_VAL))
                .toArray();
    }

    /** Returns the file offset of a loaded address. */
    private static int offset(ByteBuffer elf, int address) {
        for (int loaded : headers(elf, PT_LOAD)) {
            int inside = address - elf.getInt(loaded + P_VADDR);
            if (inside >= 0 && inside < elf.getInt(loaded + P_FILESZ)) {
                return elf.getInt(loaded + P_OFFSET) + inside;
            }
        }
        throw new IndexOutOfBoundsException(address);
    }
}
