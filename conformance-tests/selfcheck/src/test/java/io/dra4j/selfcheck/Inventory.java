// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The devices: GPUs by their number, in pools, whole or in partitions; a file lists which of them
 * fail, in the fake driver's words for it.
 */
class Inventory {

    final Settings settings = Parts.driver().settings;

    /** The devices to publish, by pool; the order is always the same. */
    Map<String, List<ObjectNode>> pools() {
        Map<String, String[]> faults = faults();
        Map<String, List<ObjectNode>> pools = new LinkedHashMap<>();
        poolNames().forEach(name -> pools.put(name, new ArrayList<>()));
        for (int index = 0; index < size(); index++) {
            List<ObjectNode> pool =
                    pools.get(poolNames().get(index % poolNames().size()));
            for (ObjectNode device : devices(index)) {
                String[] fault = faults.get(device.path("name").asText());
                if (fault == null || !fault[1].equals("absent")) {
                    pool.add(tainted(device, fault));
                }
            }
        }
        return pools;
    }

    int size() {
        return settings.number("--num-devices", 8);
    }

    List<String> poolNames() {
        return List.of(settings.node());
    }

    /** Counters that the devices of a pool consume. */
    List<ObjectNode> counterSets(List<ObjectNode> devices) {
        Map<String, ObjectNode> sets = new LinkedHashMap<>();
        for (ObjectNode device : devices) {
            String set = device.at("/consumesCounters/0/counterSet").asText();
            if (!set.isEmpty()) {
                ObjectNode counters = Json.object().put("name", set);
                counters.putObject("counters").putObject("memory").put("value", "80Gi");
                sets.put(set, counters);
            }
        }
        return List.copyOf(sets.values());
    }

    /** The fault of a device: the words of its line in the file, the first is its name. */
    Map<String, String[]> faults() {
        Map<String, String[]> faults = new HashMap<>();
        for (String line : faultLines()) {
            String[] words = line.strip().split("\\s+");
            if (words.length > 1 && !words[0].startsWith("#")) {
                faults.put(words[0], words);
            }
        }
        return faults;
    }

    /** The lines of the file, after one that the driver was started with. */
    List<String> faultLines() {
        List<String> lines = new ArrayList<>(List.of(settings.text("--faults", "")));
        String file = settings.text("--fault-file", "");
        try {
            lines.addAll(file.isEmpty() ? List.of() : Files.readAllLines(Path.of(file)));
        } catch (IOException e) {
            return lines;
        }
        return lines;
    }

    List<ObjectNode> devices(int index) {
        int partitions = settings.number("--gpu-partitions", 0);
        if (partitions == 0) {
            return List.of(device("gpu-" + index, index, "80Gi"));
        }
        List<ObjectNode> devices = new ArrayList<>();
        for (int part = 0; part < partitions; part++) {
            String name = "gpu-" + index + "-partition-" + part;
            devices.add(consuming(device(name, index, 80 / partitions + "Gi"), index));
        }
        devices.add(consuming(device("gpu-" + index + "-full", index, "80Gi"), index));
        return devices;
    }

    ObjectNode device(String name, int index, String memory) {
        ObjectNode device = Json.object().put("name", name);
        ObjectNode attributes = device.putObject("attributes");
        attributes.putObject("index").put("int", index);
        attributes.putObject("model").put("string", "LATEST-GPU-MODEL");
        attributes.putObject("resource.kubernetes.io/pcieRoot").put("string", "pci0000:%02x".formatted(index % 256));
        ObjectNode amount = device.putObject("capacity").putObject("memory").put("value", memory);
        if (settings.is("--gpu-allow-multiple-allocations")) {
            device.put("allowMultipleAllocations", true);
            ObjectNode policy = amount.putObject("requestPolicy").put("default", memory);
            policy.putObject("validRange").put("min", "1Gi").put("max", memory).put("step", "1Gi");
        }
        return device;
    }

    private static ObjectNode consuming(ObjectNode device, int index) {
        ObjectNode consumed = device.putArray("consumesCounters").addObject();
        consumed.put("counterSet", "gpu-" + index + "-counters");
        consumed.putObject("counters")
                .putObject("memory")
                .put("value", device.at("/capacity/memory/value").asText());
        return device;
    }

    ObjectNode tainted(ObjectNode device, String[] fault) {
        if (fault != null && List.of("NoSchedule", "NoExecute", "None").contains(fault[1])) {
            device.putArray("taints")
                    .addObject()
                    .put("key", settings.driver() + "/fault")
                    .put("value", String.join("-", Arrays.asList(fault).subList(2, fault.length)))
                    .put("effect", fault[1]);
        }
        return device;
    }
}
