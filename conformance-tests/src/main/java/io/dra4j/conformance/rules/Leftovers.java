// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import java.util.Map;
import java.util.TreeMap;

/** What calls leave in the CDI directory. */
final class Leftovers {

    private final Bench bench;
    private final Map<String, JsonNode> before;

    private Leftovers(Bench bench, Map<String, JsonNode> before) {
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
        return new Leftovers(bench, files(bench));
    }

    /** What each spec says, for a driver may write one for all claims anew; of others, the text. */
    private static Map<String, JsonNode> files(Bench bench) {
        Map<String, JsonNode> files = new TreeMap<>();
        bench.cdi().files().forEach((file, text) -> files.put(file, TextNode.valueOf(text)));
        files.putAll(bench.cdi().contents());
        return files;
    }

    /** Fails if there is now more or less, or something else. */
    void none(String after) {
        Map<String, JsonNode> now = files(bench);
        Violation.unless(
                now.equals(before),
                "%s, the CDI directory has %s where it had %s; new or changed: %s",
                after,
                now.keySet(),
                before.keySet(),
                differences(now));
    }

    private Map<String, JsonNode> differences(Map<String, JsonNode> now) {
        Map<String, JsonNode> changed = new TreeMap<>(now);
        before.forEach((file, content) -> changed.remove(file, content));
        return changed;
    }
}
