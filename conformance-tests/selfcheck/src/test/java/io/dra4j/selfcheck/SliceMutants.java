// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Mutants that publish the wrong slices, repair them late, or handle failures wrongly. */
final class SliceMutants {

    private static final long NEVER = 1_000_000_000;
    private static final int LAST_INDEX = 0xfffff;

    private SliceMutants() {}

    @Mutant(id = "M-69a", what = "slices have the wrong nodeName", with = OfOtherNode.class, timeoutFactor = 0.3)
    @Violation("DRA-SLICE-01: the driver wrote a slice of pool")
    static final class OtherNode extends SlicePlan {
        @Override
        ObjectNode placement(ObjectNode spec) {
            return spec.put("nodeName", driver.settings.node() + "-other");
        }
    }

    static final class OfOtherNode extends Publisher {
        @Override
        String selector() {
            return selected(
                    "spec.nodeName=" + driver.settings.node() + "-other,spec.driver=" + driver.settings.driver());
        }
    }

    private static String selected(String fields) {
        return URLEncoder.encode(fields, StandardCharsets.UTF_8);
    }

    @Mutant(
            id = "M-69b",
            what = "slices have both nodeName and allNodes",
            collateral = "DRA-SLICE-02",
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-01: the API server refused its POST with 422")
    static final class Everywhere extends SlicePlan {
        @Override
        ObjectNode placement(ObjectNode spec) {
            return super.placement(spec).put("allNodes", true);
        }
    }

    @Mutant(
            id = "M-70a",
            what = "puts 129 devices into one slice",
            collateral = "DRA-SLICE-01",
            options = "--num-devices=129",
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-02: a slice is not valid: the API server refused its POST with")
    @Violation("DRA-SLICE-04: devices into one slice, where there is room for")
    static final class Unsplit extends SlicePlan {
        @Override
        int mostDevices() {
            return Integer.MAX_VALUE;
        }
    }

    @Mutant(
            id = "M-71a",
            what = "resourceSliceCount is off by one",
            collateral = {"DRA-SLICE-02", "DRA-SLICE-04"},
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-03: the pools have not settled: slice")
    static final class Miscounted extends SlicePlan {
        @Override
        boolean isConsistent(List<JsonNode> slices, int count) {
            return super.isConsistent(slices, count + 1);
        }

        @Override
        ObjectNode pool(String name, long generation, int count) {
            return super.pool(name, generation, count + 1);
        }
    }

    /** Every slice counts its generations for itself. */
    @Mutant(
            id = "M-71b",
            what = "generations are mixed",
            collateral = {"DRA-SLICE-02", "DRA-SLICE-04"},
            options = "--num-devices=130",
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-03: has slices of several generations")
    static final class Mixed extends SlicePlan {
        @Override
        boolean isConsistent(List<JsonNode> slices, int count) {
            return slices.size() == count;
        }

        @Override
        JsonNode write(String pool, JsonNode place, ObjectNode wanted, long generation, int index, int count) {
            return super.write(pool, place, wanted, generation + index, index, count);
        }
    }

    @Mutant(id = "M-72", what = "changes two slices without a new generation", options = "--num-devices=130")
    @Violation("DRA-SLICE-05: and a mix of old and new devices: slices")
    static final class SameGeneration extends SlicePlan {
        @Override
        long nextGeneration(List<JsonNode> existing) {
            return Math.max(1, generation(existing));
        }
    }

    @Mutant(id = "M-75b", what = "deletes its slices at its start", collateral = "DRA-UPG-03", from = Build.PLAIN)
    @Violation("DRA-SLICE-07: restart 1 of 5 (SIGTERM) with unchanged devices must not write")
    static class CleanStart extends Publisher {
        private boolean clean;

        @Override
        void round() {
            if (!clean) {
                existing().forEach(plan::delete);
                clean = true;
            }
            super.round();
        }
    }

    /** Random names turn the order now and then, these at each start. */
    @Mutant(
            id = "M-140a",
            what = "makes its slices again at each start, under names in another order",
            with = CleanStart.class,
            collateral = "DRA-UPG-03",
            options = "--num-devices=130")
    @Violation("DRA-SLICE-21: after restart 1 of 5 (SIGTERM) the slices of pool")
    static final class TurnedNames extends SlicePlan {
        private boolean turned;

        @Override
        void delete(JsonNode slice) {
            turned = name(slice).startsWith("0");
            super.delete(slice);
        }

        @Override
        ObjectNode named(ObjectNode metadata, String pool, int index) {
            return super.named(metadata, pool, turned ? LAST_INDEX - index : index);
        }
    }

    @Mutant(
            id = "M-76",
            what = "publishes once, without a watch",
            collateral = {"DRA-SLICE-12", "DRA-SLICE-13"},
            timeoutFactor = 0.2)
    @Violation("DRA-SLICE-08: s later the driver has not repaired it: there is no slice")
    @Violation("DRA-SLICE-09: s later the driver has not repaired it: missing")
    @Violation("DRA-SLICE-10: s after the kubelet wiped them (")
    static final class OnceOnly extends Publisher {
        @Override
        void watch() {}

        @Override
        void awaitWork() {
            Pauses.forEver();
        }
    }

    @Mutant(
            id = "M-77",
            what = "does not list slices at its start, so that stale pools stay",
            with = WithoutList.class,
            collateral = {
                "DRA-PREP-02", "DRA-SLICE-02", "DRA-SLICE-04",
                "DRA-SLICE-05", "DRA-SLICE-10", "DRA-SLICE-13",
                "DRA-SLICE-15"
            },
            reasonVaries = true,
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-11: a slice with devices of another time, planted while the")
    static final class OwnNames extends SlicePlan {
        private final Set<String> names = ConcurrentHashMap.newKeySet();

        @Override
        JsonNode write(String pool, JsonNode place, ObjectNode wanted, long generation, int index, int count) {
            JsonNode written = super.write(pool, place, wanted, generation, index, count);
            names.add(name(written));
            return written;
        }
    }

    /** Knows the slices alone that it has made itself since its start. */
    static final class WithoutList extends Publisher {
        @Override
        List<JsonNode> existing() {
            Set<String> own = ((OwnNames) plan).names;
            return own.isEmpty()
                    ? List.of()
                    : super.existing().stream()
                            .filter(slice -> own.contains(SlicePlan.name(slice)))
                            .toList();
        }
    }

    static final class OfAllNodes extends Publisher {
        @Override
        String selector() {
            return selected("spec.driver=" + driver.settings.driver());
        }
    }

    @Mutant(
            id = "M-78",
            what = "lists slices by driver alone, and deletes those of other nodes",
            with = OfAllNodes.class)
    @Violation("DRA-SLICE-15: the driver sent DELETE for slice")
    static final class OnlyOneNode extends SlicePlan {
        @Override
        void apply(List<JsonNode> existing) {
            var byPlace = existing.stream()
                    .collect(Collectors.partitioningBy(
                            slice -> slice.at("/spec/nodeName").asText().equals(driver.settings.node())));
            byPlace.get(false).forEach(this::delete);
            super.apply(byPlace.get(true));
        }
    }

    @Mutant(id = "M-80", what = "repeats a refused write without a pause")
    @Violation("DRA-SLICE-14: the API server refused every write of a slice with")
    static final class Hot extends Publisher {
        @Override
        void failed(ApiClient.Failed problem) {
            if (problem.status == 422) {
                Pauses.millis(100);
            } else {
                super.failed(problem);
            }
        }
    }

    @Mutant(
            id = "M-81",
            what = "does not watch again after the end of a watch",
            collateral = "DRA-SLICE-13",
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-16: the driver has not begun another watch of ResourceSlices")
    static final class OneWatch extends Publisher {
        @Override
        void watch() {
            follow();
        }

        @Override
        long resync() {
            return NEVER;
        }
    }

    @Mutant(id = "M-142", what = "counts on its watch alone", timeoutFactor = 0.2)
    @Violation("DRA-SLICE-22: its watch included, and a slice that another client deleted then is")
    static final class WatchAlone extends Publisher {
        @Override
        long resync() {
            return NEVER;
        }
    }

    /** The mutation cache of the Go helper before Kubernetes 1.37. */
    @Mutant(
            id = "M-143a",
            what = "takes a slice that it has updated for one that is there",
            with = OwnUpdates.class,
            collateral = {"DRA-SLICE-05", "DRA-SLICE-10", "DRA-SLICE-12", "DRA-SLICE-13"},
            timeoutFactor = 0.2)
    @Violation("DRA-SLICE-23: a slice that the driver had updated was deleted by another client")
    static class Updated extends SlicePlan {
        private final Map<String, JsonNode> updated = new ConcurrentHashMap<>();

        @Override
        JsonNode write(String pool, JsonNode place, ObjectNode wanted, long generation, int index, int count) {
            JsonNode written = super.write(pool, place, wanted, generation, index, count);
            if (place != null) {
                updated.put(name(written), written);
            }
            return written;
        }

        @Override
        void delete(JsonNode slice) {
            updated.remove(name(slice));
            super.delete(slice);
        }
    }

    @Mutant(
            id = "M-143b",
            what = "does so with all its slices, which it updates when it starts",
            with = OwnUpdates.class,
            collateral = {"DRA-SLICE-05", "DRA-SLICE-07", "DRA-SLICE-10", "DRA-SLICE-12", "DRA-SLICE-13"},
            timeoutFactor = 0.2)
    @Violation("DRA-SLICE-23: a slice that the driver had updated was deleted by another client")
    static final class UpdatedAtStart extends Updated {
        private boolean started;

        @Override
        void apply(List<JsonNode> existing) {
            super.apply(existing);
            started = true;
        }

        @Override
        boolean same(JsonNode slice, ObjectNode wanted) {
            return started && super.same(slice, wanted);
        }
    }

    static final class OwnUpdates extends Publisher {
        @Override
        List<JsonNode> existing() {
            Map<String, JsonNode> slices = new LinkedHashMap<>(((Updated) plan).updated);
            super.existing().forEach(slice -> slices.put(SlicePlan.name(slice), slice));
            return List.copyOf(slices.values());
        }
    }

    @Mutant(id = "M-79a", what = "ends on 409, AlreadyExists included")
    @Violation("DRA-SLICE-13: the driver has ended while its slices were waited for: it")
    static class EndsOnConflict extends Publisher {
        int deadly() {
            return 409;
        }

        @Override
        void failed(ApiClient.Failed problem) {
            if (problem.status == deadly()) {
                Life.current().log("fatal: " + problem.getMessage());
                Life.current().end(1);
            }
            super.failed(problem);
        }
    }

    @Mutant(id = "M-203", what = "ends upon any error in the background")
    @Violation("DRA-SLICE-13: the driver has ended while its slices were waited for: it")
    @Violation("DRA-SLICE-14: the driver did not survive that its slices were refused with 422")
    static final class EndsOnError extends Publisher {
        @Override
        void failed(ApiClient.Failed problem) {
            Life.current().end(1);
        }
    }

    @Mutant(id = "M-79b", what = "ends on the first 500")
    @Violation("DRA-SLICE-13: the driver has ended while its slices were waited for: it")
    static final class EndsOnServerError extends EndsOnConflict {
        @Override
        int deadly() {
            return 500;
        }
    }
}
