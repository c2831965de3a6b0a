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

    @Mutant(
            id = "M-70b",
            what = "puts 65 characters into an attribute",
            collateral = "DRA-SLICE-01",
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-02: a slice is not valid: the API server refused its POST with")
    static final class LongText extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/attributes/serial").put("string", "x".repeat(65));
            return device;
        }
    }

    @Mutant(
            id = "M-73",
            what = "an attribute holds the time, so that slices are written every 10 s",
            with = Busy.class,
            collateral = {
                "DRA-SLICE-04", "DRA-SLICE-05", "DRA-SLICE-07", "DRA-SLICE-10", "DRA-SLICE-11",
                "DRA-SLICE-12", "DRA-SLICE-13", "DRA-SLICE-16", "DRA-SLICE-17", "DRA-RST-11"
            },
            timeoutFactor = 0.3)
    @Violation("DRA-SLICE-06: no device was changed within")
    static final class Dated extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            long seen = System.currentTimeMillis() / TEN_SECONDS;
            device.withObject("/attributes/lastSeen").put("int", seen);
            return device;
        }
    }

    static final class Busy extends Publisher {
        @Override
        long resync() {
            return TEN_SECONDS;
        }
    }

    /** As a hash map has it that is seeded by the process. */
    @Mutant(
            id = "M-74",
            what = "devices are in random order, so that a restart writes the slices",
            collateral = "DRA-UPG-03")
    @Violation("DRA-SLICE-07: restart 1 of 5 (SIGTERM) with unchanged devices must not write")
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
    @Mutant(
            id = "M-221",
            what = "every fourth start turns the order of its devices",
            collateral = "DRA-UPG-03",
            reasonVaries = true)
    @Violation("DRA-SLICE-21: after restart 3 of 5 (SIGTERM) the slices of pool")
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
    @Mutant(
            id = "M-95",
            what = "timeAdded is the time of each publishing",
            with = {Now.class, Busy.class},
            declares = "taint")
    @Violation("DRA-TAINT-01: the timeAdded of taints must stay")
    @Violation("DRA-SLICE-06: no device was changed within 75 s, and the driver sent [PUT")
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

    @Mutant(
            id = "M-96",
            what = "names a counter set that does not exist",
            collateral = {"DRA-SLICE-12", "DRA-HLT-02"},
            options = "--gpu-partitions=2")
    @Violation("DRA-PART-01: has it in its sharedCounters: no scheduler can allocate")
    static final class Dangling extends Inventory {
        @Override
        List<ObjectNode> counterSets(List<ObjectNode> devices) {
            List<ObjectNode> sets = super.counterSets(devices);
            return sets.isEmpty() ? sets : sets.subList(0, sets.size() - 1);
        }
    }

    /** A device that was absent once never comes. */
    @Mutant(id = "M-114a", what = "a plugged device is never published", timeoutFactor = 0.3)
    @Violation("DRA-SLICE-12: s after the hook plug the slices are not as before: missing")
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

    @Mutant(id = "M-114b", what = "an unplugged device stays published", timeoutFactor = 0.3)
    @Violation("DRA-SLICE-12: devices are still published without a taint")
    static final class NothingGone extends Inventory {
        @Override
        Map<String, String[]> faults() {
            Map<String, String[]> faults = new HashMap<>(super.faults());
            faults.values().removeIf(fault -> fault[1].equals("absent"));
            return faults;
        }
    }

    @Mutant(id = "M-140b", what = "lists a device that is back after all others", options = "--num-devices=130")
    @Violation("DRA-SLICE-21: after the hooks unplug and plug the slices of pool")
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

    @Mutant(
            id = "M-117",
            what = "the default of a requestPolicy is outside its range",
            collateral = "DRA-SLICE-01",
            options = "--gpu-allow-multiple-allocations",
            timeoutFactor = 0.3)
    @Violation("DRA-CAP-01: the requestPolicy of capacity memory of device")
    @Violation("DRA-SLICE-02: a slice is not valid: the API server refused its POST with")
    static final class OutOfRange extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/capacity/memory/requestPolicy").put("default", "900Gi");
            return device;
        }
    }

    @Mutant(id = "M-127a", what = "a fault taints nothing", declares = "taint", timeoutFactor = 0.3)
    @Violation("DRA-TAINT-02: s after the hook fault no device has a new taint")
    static final class Untainted extends Inventory {
        @Override
        ObjectNode tainted(ObjectNode device, String[] fault) {
            return device;
        }
    }

    /** A device that was tainted once stays so. */
    @Mutant(
            id = "M-127b",
            what = "a taint stays after the recovery",
            collateral = "DRA-HLT-02",
            declares = "taint",
            reasonVaries = true,
            timeoutFactor = 0.3)
    @Violation("DRA-TAINT-02: s after the hook recover the taints are")
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

    @Mutant(id = "M-127c", what = "the key of a taint is in another domain", declares = "taint")
    @Violation("DRA-TAINT-02: has a taint with the key acme.test/broken")
    static final class ForeignKeys extends Inventory {
        @Override
        ObjectNode tainted(ObjectNode device, String[] fault) {
            ObjectNode tainted = super.tainted(device, fault);
            tainted.path("taints").forEach(t -> ((ObjectNode) t).put("key", "acme.test/broken"));
            return tainted;
        }
    }

    /** Whole GPUs take more than they have. */
    @Mutant(
            id = "M-129a",
            what = "a device takes more than its counters have",
            collateral = {"DRA-SLICE-12", "DRA-HLT-02"},
            options = "--gpu-partitions=2")
    @Violation("DRA-PART-02: it can never be allocated")
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
    @Mutant(
            id = "M-130",
            what = "the policy of a device changes while it is in use",
            with = Telling.class,
            collateral = "DRA-SLICE-13",
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-CAP-02: is allocated, and the request policies changed")
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

    /** Adds an attribute to each device. */
    abstract static class Described extends Inventory {
        private final String attribute;
        private final String value;

        Described(String attribute, String value) {
            this.attribute = attribute;
            this.value = value;
        }

        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/attributes").putObject(attribute).put("string", value);
            return device;
        }
    }

    @Mutant(id = "M-126a", what = "pcieRoot is the device's own address")
    @Violation("DRA-SLICE-20: which should have the form")
    static final class AddressForRoot extends Described {
        AddressForRoot() {
            super("resource.kubernetes.io/pcieRoot", "0000:17:00.0");
        }
    }

    @Mutant(id = "M-126b", what = "invents an attribute in a domain of Kubernetes")
    @Violation("DRA-SLICE-20: in a domain of Kubernetes, which defines no such attribute")
    static final class InventedAttribute extends Described {
        InventedAttribute() {
            super("resource.kubernetes.io/gpuModel", "LATEST");
        }
    }

    @Mutant(id = "M-126c", what = "publishes a capacity with the driver's domain and without")
    @Violation("DRA-SLICE-20: two forms of one name")
    static final class BothForms extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            ObjectNode capacity = device.withObject("/capacity");
            capacity.set(settings.driver() + "/memory", capacity.get("memory").deepCopy());
            return device;
        }
    }

    @Mutant(id = "M-131", what = "never sets a binding condition", timeoutFactor = 0.3)
    @Violation("DRA-BIND-01: has set none of its conditions")
    static final class NeverBound extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.put("bindsToNode", true);
            device.putArray("bindingConditions").add(settings.driver() + "/ready");
            device.putArray("bindingFailureConditions").add(settings.driver() + "/failed");
            return device;
        }
    }

    /** The hook renumber reverses the order of the hardware. */
    @Mutant(id = "M-149", what = "names devices by minor numbers, which move with a restart")
    @Violation("DRA-RST-11: after a restart in which names moved it was prepared, though the name")
    static final class ByMinor extends Inventory {
        final boolean moved = Files.exists(
                Path.of(settings.text("--fault-file", "/none/faults")).resolveSibling("renumbered"));

        @Override
        ObjectNode device(String name, int index, String memory) {
            return super.device(name, moved ? size() - 1 - index : index, memory);
        }
    }
}
