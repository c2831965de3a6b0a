// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The devices as they are published. */
final class InventoryFaults {

    private static final long TEN_SECONDS = 10_000;
    private static final String PCIE_ROOT = "resource.kubernetes.io/pcieRoot";
    private static final String INVENTED = "resource.kubernetes.io/gpuModel";

    private InventoryFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-70b" -> parts.inventory = LongText::new;
            case "M-73" -> {
                parts.inventory = Dated::new;
                parts.publisher = Busy::new;
            }
            case "M-74" -> parts.inventory = Shuffled::new;
            case "M-95" -> {
                parts.inventory = Worn::new;
                parts.plan = Now::new;
                parts.publisher = Busy::new;
            }
            case "M-96" -> parts.inventory = Dangling::new;
            case "M-114a" -> parts.inventory = NothingNew::new;
            case "M-114b" -> parts.inventory = NothingGone::new;
            case "M-117" -> parts.inventory = OutOfRange::new;
            case "M-126a" -> parts.inventory = given -> with(given, PCIE_ROOT, "0000:17:00.0");
            case "M-126b" -> parts.inventory = given -> with(given, INVENTED, "LATEST");
            case "M-127a" -> parts.inventory = Untainted::new;
            case "M-127b" -> parts.inventory = Unforgiving::new;
            case "M-127c" -> parts.inventory = ForeignKeys::new;
            case "M-129a" -> parts.inventory = TooLarge::new;
            case "M-130" -> {
                parts.inventory = WhileTaken::new;
                parts.work = Telling::new;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class LongText extends Inventory {
        LongText(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/attributes/serial").put("string", "x".repeat(65));
            return device;
        }
    }

    private static final class Dated extends Inventory {
        Dated(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            long seen = System.currentTimeMillis() / TEN_SECONDS;
            device.withObject("/attributes/lastSeen").put("int", seen);
            return device;
        }
    }

    private static final class Busy extends Publisher {
        Busy(BareDriver driver) {
            super(driver);
        }

        @Override
        long resync() {
            return TEN_SECONDS;
        }
    }

    /** As a hash map has it that is seeded by the process. */
    private static final class Shuffled extends Inventory {
        private final long seed = Life.current().number();

        Shuffled(Settings settings) {
            super(settings);
        }

        @Override
        Map<String, List<ObjectNode>> pools() {
            Map<String, List<ObjectNode>> pools = super.pools();
            pools.values().forEach(devices -> Collections.shuffle(devices, new Random(seed)));
            return pools;
        }
    }

    /** With a device that is always tainted. */
    private static final class Worn extends Inventory {
        Worn(Settings settings) {
            super(settings);
        }

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

    private static final class Now extends SlicePlan {
        Now(BareDriver driver) {
            super(driver);
        }

        @Override
        void date(String pool, ObjectNode device, List<JsonNode> existing) {
            long now = System.currentTimeMillis() / TEN_SECONDS * TEN_SECONDS;
            for (JsonNode taint : device.path("taints")) {
                ((ObjectNode) taint).put("timeAdded", Instant.ofEpochMilli(now).toString());
            }
        }
    }

    private static final class Dangling extends Inventory {
        Dangling(Settings settings) {
            super(settings);
        }

        @Override
        List<ObjectNode> counterSets(List<ObjectNode> devices) {
            List<ObjectNode> sets = super.counterSets(devices);
            return sets.isEmpty() ? sets : sets.subList(0, sets.size() - 1);
        }
    }

    /** A device that was absent once never comes. */
    private static final class NothingNew extends Inventory {
        private final Set<String> absent = ConcurrentHashMap.newKeySet();

        NothingNew(Settings settings) {
            super(settings);
        }

        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = new HashMap<>(super.faults());
            faults.values().stream()
                    .filter(fault -> fault[1].equals("absent"))
                    .forEach(fault -> absent.add(fault[0]));
            absent.forEach(device -> faults.put(device, new String[] {device, "absent"}));
            return faults;
        }
    }

    private static final class NothingGone extends Inventory {
        NothingGone(Settings settings) {
            super(settings);
        }

        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = new HashMap<>(super.faults());
            faults.values().removeIf(fault -> fault[1].equals("absent"));
            return faults;
        }
    }

    private static final class OutOfRange extends Inventory {
        OutOfRange(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/capacity/memory/requestPolicy").put("default", "900Gi");
            return device;
        }
    }

    private static Inventory with(Settings settings, String attribute, String value) {
        return new Inventory(settings) {
            @Override
            ObjectNode device(String name, int index, String memory) {
                ObjectNode device = super.device(name, index, memory);
                ObjectNode attributes = (ObjectNode) device.path("attributes");
                attributes.putObject(attribute).put("string", value);
                return device;
            }
        };
    }

    private static final class Untainted extends Inventory {
        Untainted(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode tainted(ObjectNode device, String[] fault) {
            return device;
        }
    }

    /** What was tainted once stays so. */
    private static final class Unforgiving extends Inventory {
        private final Map<String, String[]> known = new ConcurrentHashMap<>();

        Unforgiving(Settings settings) {
            super(settings);
        }

        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = super.faults();
            faults.forEach(
                    (device, fault) -> {
                        if (!fault[1].equals("absent")) {
                            known.put(device, fault);
                        }
                    });
            known.forEach(faults::putIfAbsent);
            return faults;
        }
    }

    private static final class ForeignKeys extends Inventory {
        ForeignKeys(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode tainted(ObjectNode device, String[] fault) {
            ObjectNode tainted = super.tainted(device, fault);
            tainted.path("taints").forEach(t -> ((ObjectNode) t).put("key", "acme.test/broken"));
            return tainted;
        }
    }

    /** Whole GPUs take more than they have. */
    private static final class TooLarge extends Inventory {
        TooLarge(Settings settings) {
            super(settings);
        }

        @Override
        List<ObjectNode> devices(int index) {
            List<ObjectNode> devices = super.devices(index);
            JsonNode counters = devices.get(devices.size() - 1).at("/consumesCounters/0/counters");
            ((ObjectNode) counters.path("memory")).put("value", "100Gi");
            return devices;
        }
    }

    /** The policy depends on what is prepared. */
    private static final class WhileTaken extends Inventory {
        private volatile boolean taken;

        WhileTaken(Settings settings) {
            super(settings);
        }

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

    private static final class Telling extends ClaimWork {
        Telling(BareDriver driver) {
            super(driver);
        }

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
}
