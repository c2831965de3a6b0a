// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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

    @Altered(id = "M-71a")
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
    @Altered(id = "M-71b")
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

    @Altered(id = "M-72")
    static final class SameGeneration extends SlicePlan {
        @Override
        long nextGeneration(List<JsonNode> existing) {
            return Math.max(1, generation(existing));
        }
    }

    @Altered(id = "M-75b")
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
    @Altered(id = "M-140a", with = CleanStart.class)
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

    @Altered(id = "M-76")
    static final class OnceOnly extends Publisher {
        @Override
        void watch() {}

        @Override
        void awaitWork() {
            Pauses.forEver();
        }
    }

    @Altered(id = "M-77", with = WithoutList.class)
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

    @Altered(id = "M-78")
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

    @Altered(id = "M-80")
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

    @Altered(id = "M-81")
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

    /** The mutation cache of the Go helper before Kubernetes 1.37, of which some requirements do not speak. */
    @Altered(
            id = {"M-143a", "H-63"},
            with = OwnUpdates.class)
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

    @Altered(id = "M-143b", with = OwnUpdates.class)
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

    @Altered(id = "M-79a")
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

    @Altered(id = "M-203")
    static final class EndsOnError extends Publisher {
        @Override
        void failed(ApiClient.Failed problem) {
            Life.current().end(1);
        }
    }

    @Altered(id = "M-79b")
    static final class EndsOnServerError extends EndsOnConflict {
        @Override
        int deadly() {
            return 500;
        }
    }

    /** Lists and watches slices, and writes none; {@link FailingRunIT} tests it, and the next four. */
    @Altered(id = "M-137")
    static final class Silent extends SlicePlan {
        @Override
        void apply(List<JsonNode> existing) {
            Life.current().log("E1123 01:02:03.000004       1 main.go:7] no devices were found");
        }
    }

    /** Writes in an encoding that the API server does not read. */
    @Altered(id = "M-138")
    static final class Outdated extends ApiClient {
        @Override
        JsonNode post(String path, JsonNode body) {
            return write("POST", path, "application/x-thrift", body);
        }
    }

    /** Has no socket, and no slices, before there is a device. */
    @Altered(id = "M-230")
    static final class Waiting extends BareDriver {
        @Override
        void start() {
            Life.current().log("I1123 01:02:03.000004       1 main.go:7] No device detected, retrying in 1m0s");
            Pauses.forEver();
        }
    }

    @Altered(id = "M-231")
    static final class Panicking extends BareDriver {
        @Override
        void start() {
            Life.current().log("panic: no PCIe root\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:75 +0x17");
            Life.current().end(2);
        }
    }

    /** Serves the first instance on a node only: another one ends. */
    @Altered(id = "M-139")
    static final class Alone extends BareDriver {
        @Override
        void start() throws java.io.IOException {
            if (!settings.podUid().isEmpty()) {
                throw new java.io.IOException("another instance of the driver may be running");
            }
            super.start();
        }
    }
}
