// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import java.util.Map;
import java.util.TreeMap;

/** What calls leave in the CDI directory. */
final class Leftovers {

    private final Bench bench;
    private final Map<String, String> before;

    private Leftovers(Bench bench, Map<String, String> before) {
        this.bench = bench;
        this.before = before;
    }

    /**
     * Remembers the directory as it is now; if there is a device, after it was prepared and
     * unprepared, so that specs which are written once for all claims are there already.
     */
    static Leftovers since(Bench bench) {
        bench.devices().usable().stream()
                .findFirst()
                .map(bench.claims()::allocate)
                .ifPresent(
                        claim -> {
                            bench.calls().prepare(claim);
                            bench.calls().unprepare(claim);
                        });
        return new Leftovers(bench, bench.cdi().files());
    }

    /** Fails if there is now more or less, or something else. */
    void none(String after) {
        Map<String, String> now = bench.cdi().files();
        Violation.unless(
                now.equals(before),
                "%s, the CDI directory has %s where it had %s; new or changed: %s",
                after,
                now.keySet(),
                before.keySet(),
                differences(now));
    }

    private Map<String, String> differences(Map<String, String> now) {
        Map<String, String> changed = new TreeMap<>(now);
        before.forEach((file, content) -> changed.remove(file, content));
        return changed;
    }
}
