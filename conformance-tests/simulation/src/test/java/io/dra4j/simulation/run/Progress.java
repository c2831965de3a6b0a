// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.simulation.disk.DiskOperation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The calls that a process of the driver works on, and its last operation. */
final class Progress {

    private static final Map<String, String> FILES = new LinkedHashMap<>();

    static {
        FILES.put("/claims.journal.new", "compaction");
        FILES.put("/claims.journal", "journal");
        FILES.put("/claims.boot", "boot mark");
        FILES.put("/claims.reserve", "reserve");
        FILES.put("/cdi/", "spec");
        FILES.put("/reports/", "report");
        FILES.put("/dra-device-metadata/", "metadata");
    }

    private final Map<String, Integer> calls = new TreeMap<>();
    private String last = "nothing";

    void begins(String call) {
        calls.merge(call, 1, Integer::sum);
    }

    void ends(String call) {
        calls.computeIfPresent(call, (key, many) -> many == 1 ? null : many - 1);
    }

    /** Returns whether an operation changes the disk, and so counts as the last one. */
    boolean did(DiskOperation operation) {
        boolean isChange = switch (operation.kind()) {
            case STAT, LIST, OPEN, READ, LOCK, UNLOCK -> false;
            default -> true;
        };
        if (isChange) {
            last = file(operation.path()) + " " + operation.kind();
        }
        return isChange;
    }

    private static String file(String path) {
        return FILES.entrySet().stream()
                .filter(one -> path.contains(one.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("other file");
    }

    void did(String what) {
        last = what;
    }

    String last() {
        return last;
    }

    boolean isInCall() {
        return !calls.isEmpty();
    }

    String operation() {
        return isInCall() ? String.join("+", calls.keySet()) : "no call";
    }
}
