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

    @Variant(
            id = "H-7",
            what = "devices of the network, for all nodes",
            with = {NetworkPublisher.class, NetworkInventory.class},
            passes = {
                "DRA-PREP-16", "DRA-SLICE-01", "DRA-SLICE-02",
                "DRA-SLICE-03", "DRA-SLICE-08", "DRA-SLICE-09",
                "DRA-SLICE-15", "DRA-SLICE-18", "DRA-SLICE-19"
            },
            notApplicable = "DRA-SLICE-10")
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

    static final class NetworkInventory extends Inventory {
        @Override
        List<String> poolNames() {
            return List.of("network");
        }
    }

    @Variant(
            id = "H-8",
            what = "no devices",
            passes = {
                "DRA-PREP-10", "DRA-PREP-11", "DRA-PREP-12",
                "DRA-PREP-17", "DRA-PREP-29", "DRA-UNP-02",
                "DRA-UNP-10", "DRA-SLICE-01", "DRA-SLICE-03"
            },
            notApplicable = {
                "DRA-PREP-02", "DRA-SLICE-12",
                "DRA-SLICE-19", "DRA-HLT-01",
                "DRA-HLT-02"
            })
    static final class NoDevices extends Inventory {
        @Override
        int size() {
            return 0;
        }
    }

    @Variant(id = "H-46", what = "attributes in the driver's domain, written out", passes = "DRA-SLICE-20")
    static final class LongNames extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            ObjectNode attributes = device.withObject("/attributes");
            attributes.set(settings.driver() + "/model", attributes.remove("model"));
            return device;
        }
    }

    @Variant(
            id = "H-11",
            what = "two pools",
            passes = {
                "DRA-PREP-02", "DRA-PREP-04", "DRA-PREP-07", "DRA-PREP-16",
                "DRA-SLICE-01", "DRA-SLICE-02", "DRA-SLICE-03", "DRA-SLICE-08",
                "DRA-SLICE-09", "DRA-SLICE-15", "DRA-SLICE-19", "DRA-SLICE-23"
            })
    static final class TwoPools extends Inventory {
        @Override
        List<String> poolNames() {
            return List.of(settings.node(), settings.node() + "-b");
        }
    }

    @Variant(
            id = "H-14",
            what = "names of slices that are not generated",
            passes = {
                "DRA-SLICE-02", "DRA-SLICE-03", "DRA-SLICE-08",
                "DRA-SLICE-09", "DRA-SLICE-10", "DRA-SLICE-15",
                "DRA-SLICE-16", "DRA-SLICE-23"
            })
    static final class FixedNames extends SlicePlan {
        @Override
        ObjectNode named(ObjectNode metadata, String pool, int index) {
            return metadata.put("name", driver.settings.driver() + "-" + pool + "-" + index);
        }
    }

    /** Publishes after a while. */
    abstract static class Delayed extends Publisher {
        private final long millis;

        Delayed(long millis) {
            this.millis = millis;
        }

        @Override
        void start() {
            Pauses.later(millis, super::start);
        }
    }

    static final class After25Seconds extends Delayed {
        After25Seconds() {
            super(25_000);
        }
    }

    static final class After4Seconds extends Delayed {
        After4Seconds() {
            super(4_000);
        }
    }

    @Variant(
            id = "H-18",
            what = "slices come late, and within the start time",
            passes = {"DRA-PREP-01", "DRA-SLICE-01", "DRA-SLICE-03"},
            settings = "{/timeoutFactor: 0.3}",
            slow = true,
            from = Build.FULL)
    static final class After8Seconds extends Delayed {
        After8Seconds() {
            super(8_000);
        }
    }

    @Variant(
            id = "H-19",
            what = "no devices, which it declares, and no slice",
            with = NoDevices.class,
            passes = {"DRA-PREP-29", "DRA-UNP-02", "DRA-DECL-01"},
            notApplicable = {
                "DRA-PREP-01", "DRA-PREP-02",
                "DRA-SLICE-01", "DRA-SLICE-03",
                "DRA-CDI-01"
            },
            settings = "{/driver/declares: [no-devices]}",
            slow = true)
    static final class NoSlices extends Publisher {
        @Override
        void start() {}
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

    @Variant(
            id = "H-24",
            what = "a deleted slice is back after 13 s, where the limit of 90 s is 18 s",
            passes = {"DRA-SLICE-08", "DRA-SLICE-09", "DRA-SLICE-10"},
            settings = "{/timeoutFactor: 0.2}",
            slow = true,
            core = false,
            from = Build.FULL)
    static final class Caching13Seconds extends Caching {
        Caching13Seconds() {
            super(13);
        }
    }

    /** The bug of the Go helper before 1.37, of which the other requirements do not speak. */
    @Variant(
            id = "H-63",
            what = "takes a slice that it has updated for one that is there",
            with = SliceMutants.OwnUpdates.class,
            passes = {"DRA-SLICE-08", "DRA-SLICE-09", "DRA-SLICE-10", "DRA-SLICE-12", "DRA-SLICE-13", "DRA-SLICE-16"},
            settings = "{/timeoutFactor: 0.2}",
            core = false,
            from = Build.FULL)
    @Violation("DRA-SLICE-23: a slice that the driver had updated was deleted by another client")
    static final class KeepingUpdates extends SliceMutants.Updated {}

    @Variant(
            id = "H-24b",
            what = "a deleted slice is back after 61 s",
            passes = {"DRA-SLICE-08", "DRA-SLICE-09", "DRA-SLICE-10"},
            slow = true,
            from = Build.FULL)
    static final class Caching61Seconds extends Caching {
        Caching61Seconds() {
            super(61);
        }
    }
}
