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
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The devices as they are published. */
final class InventoryMutants {

    private static final long TEN_SECONDS = 10_000;

    private InventoryMutants() {}

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

    /** With a device that is always tainted. */
    @Altered(id = "M-95", with = Now.class)
    static final class Worn extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            if (index == 7) {
                device.putArray("taints")
                        .addObject()
                        .put("key", settings.driver() + "/worn")
                        .put("effect", "NoSchedule");
            }
            return device;
        }
    }

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

    @Altered(id = "M-114b")
    static final class NothingGone extends Inventory {
        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = new HashMap<>(super.faults());
            faults.values().removeIf(fault -> fault[1].equals("absent"));
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

    @Altered(id = "M-127c")
    static final class ForeignKeys extends Inventory {
        @Override
        ObjectNode tainted(ObjectNode device, String[] fault) {
            ObjectNode tainted = super.tainted(device, fault);
            tainted.path("taints").forEach(t -> ((ObjectNode) t).put("key", "acme.test/broken"));
            return tainted;
        }
    }

    /** Whole GPUs take more than they have. */
    @Altered(id = "M-129a")
    static final class TooLarge extends Inventory {
        @Override
        List<ObjectNode> devices(int index) {
            List<ObjectNode> devices = super.devices(index);
            JsonNode counters = devices.get(devices.size() - 1).at("/consumesCounters/0/counters");
            ((ObjectNode) counters.path("memory")).put("value", "100Gi");
            return devices;
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
