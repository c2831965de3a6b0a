// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The layouts of structs by the C compiler of this machine. */
public final class Layouts {

    private static final Path PROGRAM = StandInNode.BUILT.resolve("layout");

    private final Map<String, Layout> layouts = new HashMap<>();

    /**
     * A struct.
     *
     * @param size its size in bytes
     * @param offsets those of its fields, in order
     */
    public record Layout(int size, Map<String, Integer> offsets) {

        /** The offset of a field. */
        public int at(String field) {
            return offsets.get(field);
        }
    }

    private Layouts() {}

    /** Asks the compiler's program. */
    public static Layouts read() {
        return read(List.of(PROGRAM.toString()));
    }

    /** Asks that of the compiler for arm64; empty where neither that nor what runs the program is installed. */
    public static Optional<Layouts> ofArm64() {
        Path program = StandInNode.BUILT.resolve("arm64/layout");
        Path emulator = Path.of("/usr/bin/qemu-aarch64-static");
        return Files.exists(program) && Files.exists(emulator)
                ? Optional.of(read(List.of(emulator.toString(), program.toString())))
                : Optional.empty();
    }

    /** All structs. */
    public Map<String, Layout> all() {
        return layouts;
    }

    private static Layouts read(List<String> program) {
        Layouts layouts = new Layouts();
        try (BufferedReader lines = new ProcessBuilder(program).start().inputReader()) {
            lines.lines().filter(line -> !line.isEmpty()).forEach(layouts::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return layouts;
    }

    private void add(String line) {
        String[] words = line.split(" ");
        Map<String, Integer> offsets = new LinkedHashMap<>();
        for (int i = 2; i < words.length; i++) {
            String[] field = words[i].split("=");
            offsets.put(field[0], Integer.valueOf(field[1]));
        }
        layouts.put(words[0], new Layout(Integer.parseInt(words[1]), offsets));
    }

    /** The layout of a struct. */
    public Layout of(String struct) {
        return layouts.get(struct);
    }
}
