// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The pool of the driver under test as a scheduler sees it: of all slices those of the newest
 * generation count, and devices can be allocated when none of them is missing.
 *
 * @param generation the newest generation; 0 if there is no slice
 * @param slices the slices of that generation
 * @param outdated how many slices of older generations there are besides
 */
record SeenPool(long generation, List<JsonNode> slices, int outdated) {

    static SeenPool of(Collection<JsonNode> all) {
        List<JsonNode> own = all.stream().filter(SeenPool::isOwn).toList();
        long newest = own.stream().mapToLong(SeenPool::generation).max().orElse(0);
        List<JsonNode> slices = own.stream().filter(s -> generation(s) == newest).toList();
        return new SeenPool(newest, slices, own.size() - slices.size());
    }

    private static boolean isOwn(JsonNode slice) {
        return slice.at("/spec/driver").asText().equals(DRIVER)
                && slice.at("/spec/nodeName").asText().equals(NODE)
                && slice.at("/spec/pool/name").asText().equals(NODE);
    }

    private static long generation(JsonNode slice) {
        return slice.at("/spec/pool/generation").asLong();
    }

    /** Whether the scheduler takes the pool for complete. */
    boolean complete() {
        return !slices.isEmpty()
                && slices.stream()
                        .allMatch(
                                s ->
                                        s.at("/spec/pool/resourceSliceCount").asInt()
                                                == slices.size());
    }

    /** Whether it is complete, with so many devices, and nothing older lies around. */
    boolean settled(int devices) {
        return complete() && outdated == 0 && faults().size() == devices;
    }

    /** The reasons of each device's taints; empty for a device without. */
    Map<String, String> faults() {
        Map<String, String> faults = new TreeMap<>();
        for (JsonNode slice : slices) {
            for (JsonNode device : slice.at("/spec/devices")) {
                String reasons =
                        device.path("taints").findValuesAsText("value").stream()
                                .collect(Collectors.joining(","));
                if (faults.put(device.path("name").asText(), reasons) != null) {
                    throw new AssertionError("in two slices at once: " + device);
                }
            }
        }
        return faults;
    }

    /** The slice that holds a device. */
    JsonNode sliceOf(String device) {
        return slices.stream()
                .filter(s -> s.at("/spec/devices").findValuesAsText("name").contains(device))
                .findFirst()
                .orElseThrow(() -> new AssertionError(device + " is in none of " + slices));
    }

    /** Names and versions: the same as long as nobody writes. */
    Map<String, String> versions() {
        return versions(slices);
    }

    static Map<String, String> versions(Collection<JsonNode> objects) {
        return objects.stream()
                .collect(
                        Collectors.toMap(
                                o -> o.at("/metadata/name").asText(),
                                o ->
                                        o.at("/metadata/uid").asText()
                                                + " "
                                                + o.at("/metadata/resourceVersion").asText()));
    }
}
