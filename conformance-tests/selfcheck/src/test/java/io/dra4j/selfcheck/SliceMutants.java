// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Mutants that publish the wrong devices or slices, repair them late, or handle failures wrongly. */
final class SliceMutants {

    private static final long NEVER = 1_000_000_000;
    private static final int LAST_INDEX = 0xfffff;
    private static final long TEN_SECONDS = 10_000;

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

    /** Writes in an encoding that the API server does not read. */
    @Altered(id = "M-138")
    static final class Outdated extends ApiClient {
        @Override
        JsonNode post(String path, JsonNode body) {
            return write("POST", path, "application/x-thrift", body);
        }
    }

    /** Serves the first instance on a node only: another one ends. */
    @Altered(id = "M-139")
    static final class Alone extends BareDriver {
        @Override
        void start() throws IOException {
            if (!settings.podUid().isEmpty()) {
                throw new IOException("another instance of the driver may be running");
            }
            super.start();
        }
    }

    @Altered(id = "M-73")
    static final class Dated extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            long seen = System.currentTimeMillis() / TEN_SECONDS;
            device.withObject("/attributes/lastSeen").put("int", seen);
            return device;
        }
    }

    /** As a hash map has it that is seeded by the process. */
    @Altered(id = "M-74")
    static final class Shuffled extends Inventory {
        private final long seed = Life.current().number();

        @Override
        Map<String, List<ObjectNode>> pools() {
            Map<String, List<ObjectNode>> pools = super.pools();
            pools.values().forEach(devices -> Collections.shuffle(devices, new Random(seed)));
            return pools;
        }
    }

    /** As a map of few entries keeps its order by chance, and not each time. */
    @Altered(id = "M-221")
    static final class Turning extends Inventory {
        private final boolean turned = starts() % 4 == 0;

        private long starts() {
            try {
                Path starts = Files.createDirectories(settings.data()).resolve("starts");
                Files.writeString(starts, "x", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                return Files.size(starts);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        Map<String, List<ObjectNode>> pools() {
            Map<String, List<ObjectNode>> pools = super.pools();
            if (turned) {
                pools.values().forEach(Collections::reverse);
            }
            return pools;
        }
    }

    @Altered(id = "M-95")
    static final class Now extends SlicePlan {
        @Override
        void date(String pool, ObjectNode device, List<JsonNode> existing) {
            long now = System.currentTimeMillis() / TEN_SECONDS * TEN_SECONDS;
            for (JsonNode taint : device.path("taints")) {
                ((ObjectNode) taint).put("timeAdded", Instant.ofEpochMilli(now).toString());
            }
        }
    }

    @Altered(id = "M-96")
    static final class Dangling extends Inventory {
        @Override
        List<ObjectNode> counterSets(List<ObjectNode> devices) {
            List<ObjectNode> sets = super.counterSets(devices);
            return sets.isEmpty() ? sets : sets.subList(0, sets.size() - 1);
        }
    }

    /** A device that was absent once never comes. */
    @Altered(id = "M-114a")
    static final class NothingNew extends Inventory {
        private final Set<String> absent = ConcurrentHashMap.newKeySet();

        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = new HashMap<>(super.faults());
            faults.values().stream().filter(fault -> fault[1].equals("absent")).forEach(fault -> absent.add(fault[0]));
            absent.forEach(device -> faults.put(device, new String[] {device, "absent"}));
            return faults;
        }
    }

    @Altered(id = "M-140b")
    static final class BackAtTheEnd extends Inventory {
        private final Set<String> absent = ConcurrentHashMap.newKeySet();

        @Override
        Map<String, List<ObjectNode>> pools() {
            faults().forEach(this::note);
            Map<String, List<ObjectNode>> pools = super.pools();
            pools.values()
                    .forEach(devices -> devices.sort(Comparator.comparing(
                            device -> absent.contains(device.path("name").asText()))));
            return pools;
        }

        private void note(String device, String[] fault) {
            if (fault[1].equals("absent")) {
                absent.add(device);
            }
        }
    }

    /** A device that was tainted once stays so. */
    @Altered(id = "M-127b")
    static final class Unforgiving extends Inventory {
        private final Map<String, String[]> known = new ConcurrentHashMap<>();

        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = super.faults();
            faults.forEach((device, fault) -> {
                if (!fault[1].equals("absent")) {
                    known.put(device, fault);
                }
            });
            known.forEach(faults::putIfAbsent);
            return faults;
        }
    }

    /** The policy depends on what is prepared. */
    @Altered(id = "M-130", with = Telling.class)
    static final class WhileTaken extends Inventory {
        private volatile boolean taken;

        @Override
        List<String> faultLines() {
            List<String> lines = new ArrayList<>(super.faultLines());
            lines.add("# taken: " + taken);
            return lines;
        }

        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            if (taken) {
                device.withObject("/capacity/memory/requestPolicy/validRange").put("min", "2Gi");
            }
            return device;
        }
    }

    static final class Telling extends ClaimWork {
        @Override
        void finish(Map<String, ObjectNode> held, ObjectNode fresh) {
            super.finish(held, fresh);
            ((WhileTaken) driver.inventory).taken = true;
        }

        @Override
        void release(String uid) {
            super.release(uid);
            ((WhileTaken) driver.inventory).taken = false;
        }
    }

    @Altered(id = "M-126c")
    static final class BothForms extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            ObjectNode capacity = device.withObject("/capacity");
            capacity.set(settings.driver() + "/memory", capacity.get("memory").deepCopy());
            return device;
        }
    }

    /** The hook renumber reverses the order of the hardware. */
    @Altered(id = "M-149")
    static final class ByMinor extends Inventory {
        final boolean moved = Files.exists(
                Path.of(settings.text("--fault-file", "/none/faults")).resolveSibling("renumbered"));

        @Override
        ObjectNode device(String name, int index, String memory) {
            return super.device(name, moved ? size() - 1 - index : index, memory);
        }
    }
}
