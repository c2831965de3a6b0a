// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Counts of what runs have tried: faults, by the operation that they hit and by what the process had done just before.
 */
public final class Coverage {

    private final Map<String, Map<String, Long>> faults = new TreeMap<>(); // by place, then by fault
    private final Map<String, Long> counts = new TreeMap<>();

    /**
     * Notes a fault.
     *
     * @param operation the operation of the driver that it hit
     * @param last what the driver had done just before
     */
    public void fault(String fault, String operation, String last) {
        faults.computeIfAbsent("%-10s %s".formatted(operation, last), place -> new TreeMap<>())
                .merge(fault, 1L, Long::sum);
        count("faults", 1);
    }

    public void count(String what, long many) {
        counts.merge(what, many, Long::sum);
    }

    public long count(String what) {
        return counts.getOrDefault(what, 0L);
    }

    void add(Coverage other) {
        other.counts.forEach(this::count);
        other.faults.forEach((place, some) -> {
            Map<String, Long> all = faults.computeIfAbsent(place, key -> new TreeMap<>());
            some.forEach((fault, many) -> all.merge(fault, many, Long::sum));
        });
    }

    private Set<String> kinds() {
        Set<String> kinds = new TreeSet<>();
        faults.values().forEach(some -> kinds.addAll(some.keySet()));
        return kinds;
    }

    /** Returns all counts, a row for each place, and a line for each fault with the places where it was never tried. */
    @Override
    public String toString() {
        Set<String> kinds = kinds();
        StringBuilder text = new StringBuilder("Counts: " + counts + "\n");
        text.append("%-44s".formatted("Faults by operation, and what was done last"));
        kinds.forEach(kind -> text.append(" ").append(kind));
        faults.forEach((place, some) -> {
            text.append("\n%-44s".formatted(place));
            kinds.forEach(kind ->
                    text.append((" %" + kind.length() + "s").formatted(some.containsKey(kind) ? some.get(kind) : "-")));
        });
        for (String kind : kinds) {
            text.append("\nNever tried, ").append(kind).append(": ").append(untried(kind));
        }
        return text.append("\n").toString();
    }

    private String untried(String kind) {
        return faults.entrySet().stream()
                .filter(place -> !place.getValue().containsKey(kind))
                .map(place -> place.getKey().replaceAll(" +", " "))
                .collect(Collectors.joining(", "));
    }
}
