// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.testkit.driver.Instance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The memory and the threads of a driver's process and its descendants at one moment, from Linux's {@code /proc}.
 *
 * @param residentBytes the sum of their resident memory; pages that several share count for each
 * @param anonymousBytes the part of it without a file behind it, which a node cannot reclaim
 * @param threads the sum of their threads
 * @param processes their number; more than 1 if the command is a wrapper such as a shell
 * @param largest the id of the process with the most resident memory: the driver itself, even if a wrapper started
 *     it
 */
public record Footprint(long residentBytes, long anonymousBytes, int threads, int processes, long largest) {

    private record Part(long pid, long resident, long anonymous, int threads) {}

    /** Reads it; empty if the driver has no separate process, or it cannot be read here. */
    public static Optional<Footprint> of(Instance instance) {
        OptionalLong pid = instance.pid();
        return pid.isEmpty()
                ? Optional.empty()
                : ProcessHandle.of(pid.getAsLong()).flatMap(Footprint::of);
    }

    /** Reads the footprint of a process and its descendants; empty if it cannot be read here. */
    static Optional<Footprint> of(ProcessHandle root) {
        return part(root.pid())
                .map(first -> sum(Stream.concat(
                                Stream.of(first), root.descendants().flatMap(child -> part(child.pid()).stream()))
                        .toList()));
    }

    private static Footprint sum(List<Part> parts) {
        Part largest = parts.get(0);
        long resident = 0;
        long anonymous = 0;
        int threads = 0;
        for (Part part : parts) {
            resident += part.resident();
            anonymous += part.anonymous();
            threads += part.threads();
            largest = part.resident() > largest.resident() ? part : largest;
        }
        return new Footprint(resident, anonymous, threads, parts.size(), largest.pid());
    }

    /** Empty for a process that has ended, that of another user, and on another system. */
    private static Optional<Part> part(long pid) {
        Path folder = Path.of("/proc", Long.toString(pid));
        try {
            List<String> memory = Files.readAllLines(folder.resolve("smaps_rollup"));
            List<String> status = Files.readAllLines(folder.resolve("status"));
            return Optional.of(new Part(pid, 1024 * number(memory, "Rss:"), 1024 * number(memory, "Anonymous:"), (int)
                    number(status, "Threads:")));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static long number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split(" ")[0])
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }
}
