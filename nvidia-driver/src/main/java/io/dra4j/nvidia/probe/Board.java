// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Architecture;
import io.dra4j.nvidia.nvml.Brand;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.MigProfile.Engines;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.nvml.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A type of board, as NVML reports a healthy and idle one.
 *
 * @param node the installed driver of the node from which the values come
 * @param profiles its MIG profiles, in the order of NVML's indices; none without MIG mode
 */
record Board(BoardLine node, BoardLine board, List<BoardLine> profiles) {

    /** The known boards, in the order of their generations. */
    static final List<String> NAMES = List.of("t4", "a30", "a100-40", "a100-80", "l40s", "h100-80", "h200-141", "b200");

    private static final int MIB = 20;

    Board {
        profiles = List.copyOf(profiles);
    }

    static Board named(String name) {
        if (!NAMES.contains(name)) {
            throw new DraException(
                    "Unknown board \"%s\"; the known ones are %s. On a node with other GPUs, `probe -o yaml` prints the slices"
                            .formatted(name, String.join(", ", NAMES)));
        }
        List<BoardLine> lines = lines(name);
        return new Board(of("node", lines).get(0), of("board", lines).get(0), of("profile", lines));
    }

    private static List<BoardLine> of(String kind, List<BoardLine> lines) {
        return lines.stream().filter(line -> line.kind().equals(kind)).toList();
    }

    private static List<BoardLine> lines(String name) {
        String file = "/io/dra4j/nvidia/boards/" + name + ".txt";
        try (InputStream content = Board.class.getResourceAsStream(file)) {
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

    String productName() {
        return board.text("name");
    }

    /**
     * Returns NVML's reading of a node with a number of these boards.
     *
     * @param driverVersion the version of the installed driver; null for that of the board's file
     * @param cudaVersion the newest version of CUDA that it supports; likewise
     */
    Reading reading(int count, @Nullable String driverVersion, @Nullable String cudaVersion) {
        int cuda = node.number("cuda", 0); // 12040 is 12.4
        return new Reading(
                driverVersion == null ? node.text("driver") : driverVersion,
                cudaVersion == null ? cuda / 1000 + "." + cuda % 1000 / 10 : cudaVersion,
                IntStream.range(0, count).mapToObj(this::gpu).toList(),
                Set.of(),
                Set.of(),
                List.of(),
                List.of());
    }

    /** A UUID of zeros can't be a real one, since these are random. */
    private Gpu gpu(int minor) {
        return new Gpu(
                "GPU-00000000-0000-0000-0000-%012x".formatted(minor),
                new PciAddress("0000:%02x:00.0".formatted(minor + 1)),
                minor,
                null, // the module: the system's board decides
                productName(),
                Brand.name(board.number("brand", 0)),
                Architecture.of(board.number("arch", 0)),
                board.text("cc"),
                (long) board.number("memoryMiB", 0) << MIB,
                null, // the addressing mode: the kernel and the driver decide
                null,
                List.of(),
                board.number("mig", 0) == 1 ? mig() : null,
                false);
    }

    private Mig mig() {
        return new Mig(false, false, profiles.stream().map(Board::profile).toList(), List.of(), false);
    }

    private static MigProfile profile(BoardLine line) {
        int size = line.number("size", 1);
        return new MigProfile(
                line.number("index", 0),
                line.number("id", 0),
                line.number("slices", 0),
                line.number("count", 0),
                new Engines(
                        line.number("sm", 0),
                        line.number("ce", 0),
                        line.number("dec", 0),
                        line.number("enc", 0),
                        line.number("jpeg", 0),
                        line.number("ofa", 0)),
                line.number("memoryMiB", 0),
                Stream.of(line.text("at").split(","))
                        .map(start -> new InstancePlacement(Integer.parseInt(start), size))
                        .toList(),
                null);
    }

    /** A line of a file of boards: a kind and words {@code key=value}, in which {@code _} stands for a space. */
    record BoardLine(String kind, Map<String, String> words) {

        BoardLine {
            words = Map.copyOf(words);
        }

        static BoardLine of(String text) {
            String[] parts = text.split(" ");
            return new BoardLine(
                    parts[0],
                    Stream.of(parts)
                            .skip(1)
                            .map(word -> word.split("=", 2))
                            .collect(Collectors.toMap(word -> word[0], word -> word[1])));
        }

        String text(String key) {
            String value = words.get(key);
            if (value == null) {
                throw new IllegalStateException("A line \"" + kind + "\" has no " + key);
            }
            return value.replace('_', ' ');
        }

        int number(String key, int otherwise) {
            String value = words.get(key);
            return value == null ? otherwise : Integer.parseInt(value);
        }
    }
}
