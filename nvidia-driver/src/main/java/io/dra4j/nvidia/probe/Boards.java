// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The boards whose values are known, by the names of their files. */
final class Boards {

    /** The names, in the order of generations. */
    static final List<String> NAMES = List.of("t4", "a30", "a100-40", "a100-80", "l40s", "h100-80", "h200-141", "b200");

    private Boards() {}

    /**
     * Finds a board.
     *
     * @throws DraException if it is not known; the message has those that are
     */
    static Board named(String name) {
        if (!NAMES.contains(name)) {
            throw new DraException(
                    "There is no board \"%s\"; known are %s. On a node with other GPUs, `probe -o yaml` prints the slices"
                            .formatted(name, String.join(", ", NAMES)));
        }
        List<BoardLine> boards = new ArrayList<>();
        List<BoardLine> nodes = new ArrayList<>();
        List<BoardLine> profiles = new ArrayList<>();
        for (BoardLine line : lines(name)) {
            switch (line.kind()) {
                case "node" -> nodes.add(line);
                case "board" -> boards.add(line);
                case "profile" -> profiles.add(line);
                default -> {} // how many of them the tests have
            }
        }
        return new Board(nodes.get(0), boards.get(0), profiles);
    }

    private static List<BoardLine> lines(String name) {
        String file = "/io/dra4j/nvidia/boards/" + name + ".txt";
        try (InputStream content = Boards.class.getResourceAsStream(file)) {
            if (content == null) {
                throw new IllegalStateException("The program lacks its file " + file);
            }
            return new String(content.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(BoardLine::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read " + file, e);
        }
    }
}
