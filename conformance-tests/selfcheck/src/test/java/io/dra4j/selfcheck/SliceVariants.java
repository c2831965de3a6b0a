// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Publishes unusual pools, or late. */
final class SliceVariants {

    private SliceVariants() {}

    @Altered(id = "H-7", with = NetworkPublisher.class)
    static final class NetworkPlan extends SlicePlan {
        @Override
        ObjectNode placement(ObjectNode spec) {
            return spec.put("allNodes", true);
        }
    }

    static final class NetworkPublisher extends Publisher {
        @Override
        String selector() {
            return URLEncoder.encode("spec.driver=" + driver.settings.driver(), StandardCharsets.UTF_8);
        }

        @Override
        List<JsonNode> existing() {
            return super.existing().stream()
                    .filter(slice -> slice.at("/spec/allNodes").asBoolean())
                    .toList();
        }
    }

    @Altered(id = "H-46")
    static final class LongNames extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            ObjectNode attributes = device.withObject("/attributes");
            attributes.set(settings.driver() + "/model", attributes.remove("model"));
            return device;
        }
    }

    @Altered(id = "H-11")
    static final class TwoPools extends Inventory {
        @Override
        List<String> poolNames() {
            return List.of(settings.node(), settings.node() + "-b");
        }
    }

    @Altered(id = "H-14")
    static final class FixedNames extends SlicePlan {
        @Override
        ObjectNode named(ObjectNode metadata, String pool, int index) {
            return metadata.put("name", driver.settings.driver() + "-" + pool + "-" + index);
        }
    }

    /** Takes a slice that is gone for one that is there for a while, as a mutation cache does. */
    abstract static class Caching extends Publisher {
        private final Duration delay;
        private final Map<String, JsonNode> cached = new HashMap<>();
        private final Map<String, Long> missing = new HashMap<>();

        Caching(int seconds) {
            delay = Duration.ofSeconds(seconds);
        }

        @Override
        List<JsonNode> existing() {
            List<JsonNode> slices = new ArrayList<>(super.existing());
            slices.forEach(slice -> cached.put(SlicePlan.name(slice), slice));
            Set<String> there = slices.stream().map(SlicePlan::name).collect(Collectors.toSet());
            missing.keySet().removeAll(there);
            cached.keySet().stream()
                    .filter(name -> !there.contains(name))
                    .forEach(name -> missing.putIfAbsent(name, System.nanoTime()));
            cached.keySet().removeIf(name -> missing.containsKey(name) && isOver(name));
            missing.keySet().retainAll(cached.keySet());
            missing.keySet().forEach(name -> slices.add(cached.get(name)));
            return slices;
        }

        private boolean isOver(String name) {
            return System.nanoTime() - missing.getOrDefault(name, 0L) > delay.toNanos();
        }

        @Override
        long resync() {
            return 500;
        }
    }

    @Altered(id = "H-24")
    static final class Caching13Seconds extends Caching {
        Caching13Seconds() {
            super(13);
        }
    }

    /** The bug of the Go helper before 1.37, of which the other requirements do not speak. */
    @Altered(id = "H-63", with = SliceMutants.OwnUpdates.class)
    static final class KeepingUpdates extends SliceMutants.Updated {}

    @Altered(id = "H-24b")
    static final class Caching61Seconds extends Caching {
        Caching61Seconds() {
            super(61);
        }
    }
}
