// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.simulation.api.SimulatedApiServer;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Pools as a scheduler sees them: only slices of the newest generation, and only if all of them exist. */
final class PublishedPools {

    private final Hardware hardware;
    private final Map<String, JsonNode> slices = new TreeMap<>(); // by pool and name
    private final Set<String> unexpected = new TreeSet<>(); // those of them that came late or from others

    PublishedPools(Hardware hardware) {
        this.hardware = hardware;
    }

    /** Notes a write of a slice, and returns a state that no scheduler should see, if it leads to one. */
    Optional<String> written(@Nullable JsonNode before, @Nullable JsonNode after) {
        JsonNode slice = Objects.requireNonNull(after == null ? before : after);
        String pool = slice.at("/spec/driver").asText() + "/"
                + slice.at("/spec/pool/name").asText() + "/";
        String name = pool + slice.at("/metadata/name").asText();
        slices.remove(name);
        if (after == null) {
            unexpected.remove(name);
        } else if (!after.at(SimulatedApiServer.UNEXPECTED).isMissingNode()) {
            unexpected.add(name);
        }
        long newest =
                of(pool).stream().mapToLong(PublishedPools::generation).max().orElse(0);
        if (after != null) {
            slices.put(name, after);
            boolean isOld = before != null && generation(before) == generation(after); // others change it like this
            if (!isOld && generation(after) < newest && !unexpected.contains(name)) {
                return Optional.of("slice %s was written with generation %s while another had %s"
                        .formatted(name, generation(after), newest));
            }
            newest = Math.max(newest, generation(after));
        }
        long seen = newest;
        if (unexpected.stream().anyMatch(one -> one.startsWith(pool))) {
            return Optional.empty(); // the driver does not know about it yet
        }
        return wrong(of(pool).stream().filter(one -> generation(one) == seen).toList());
    }

    private List<JsonNode> of(String pool) {
        return slices.entrySet().stream()
                .filter(slice -> slice.getKey().startsWith(pool))
                .map(Map.Entry::getValue)
                .toList();
    }

    private static long generation(JsonNode slice) {
        return slice.at("/spec/pool/generation").asLong();
    }

    private Optional<String> wrong(List<JsonNode> pool) {
        if (pool.stream()
                .anyMatch(slice -> slice.at("/spec/pool/resourceSliceCount").asInt() != pool.size())) {
            return Optional.empty(); // incomplete: no scheduler allocates from it
        }
        Map<String, String> uuids = new LinkedHashMap<>();
        Set<String> counterSets = new HashSet<>();
        Set<String> consumed = new HashSet<>();
        for (JsonNode slice : pool) {
            slice.at("/spec/sharedCounters")
                    .forEach(set -> counterSets.add(set.path("name").asText()));
            for (JsonNode device : slice.at("/spec/devices")) {
                String name = device.path("name").asText();
                if (uuids.put(name, device.at("/attributes/uuid/string").asText()) != null) {
                    return Optional.of("a complete pool has device %s twice: %s".formatted(name, pool));
                }
                device.path("consumesCounters")
                        .forEach(one -> consumed.add(one.path("counterSet").asText()));
            }
        }
        if (!counterSets.containsAll(consumed)) {
            return Optional.of("a complete pool has counter sets %s, and its devices consume of %s"
                    .formatted(counterSets, consumed));
        }
        return hardware.hasHad(uuids)
                ? Optional.empty()
                : Optional.of("a complete pool has devices that never existed together: " + uuids);
    }
}
