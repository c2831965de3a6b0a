// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.runtime.SlicePreview;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** NVML's readings of a node, and the devices that would be published, as text. */
record ProbeReport(Reading reading, NodeDevices devices, String nodeName) {

    private static final long MIB = 1L << 20;

    private static final String GAP = "  ";

    /** Quotes all strings: without quotes, 0000:17:00.0 is a number. */
    private static final YAMLMapper YAML = new YAMLMapper();

    enum Format {
        table,
        yaml
    }

    static ProbeReport of(InstallOptions install, String nodeName) {
        PassthroughGpus machines = install.passthroughGpus();
        Reading reading = machines.readOthers(() -> read(install));
        NodeDevices devices = NodeDevices.of(reading, install.inventorySettings(nodeName), machines);
        return new ProbeReport(reading, devices, nodeName);
    }

    private static Reading read(InstallOptions install) {
        try (Nvml nvml = install.openNvml()) {
            return nvml.read();
        }
    }

    String as(Format format) {
        return format == Format.yaml ? yaml() : table();
    }

    private String yaml() {
        return slices().stream().map(ProbeReport::yaml).collect(Collectors.joining());
    }

    /** Returns the slices as YAML, with names, so that they can be created. */
    String named() {
        List<ObjectNode> slices = slices();
        for (int i = 0; i < slices.size(); i++) {
            slices.get(i).putObject("metadata").put("name", "%s-%s-%d".formatted(nodeName, NodeDevices.DRIVER_NAME, i));
        }
        return slices.stream().map(ProbeReport::yaml).collect(Collectors.joining());
    }

    private List<ObjectNode> slices() {
        return SlicePreview.rawJson(NodeDevices.DRIVER_NAME, nodeName, devices.inventory()).stream()
                .map(ProbeReport::object)
                .toList();
    }

    private static ObjectNode object(String json) {
        try {
            return new JsonMapper().readValue(json, ObjectNode.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("A slice is not JSON", e);
        }
    }

    private static String yaml(ObjectNode slice) {
        try {
            return YAML.writeValueAsString(slice);
        } catch (JsonProcessingException e) {
            throw new DraException("Can't write a slice as YAML", e);
        }
    }

    private String table() {
        StringBuilder text = new StringBuilder();
        if (reading == Reading.NOTHING) {
            text.append("NVIDIA's driver is not loaded, and no GPU is bound to it.\n\n");
        } else {
            text.append("NVIDIA driver ").append(reading.driverVersion());
            text.append(", CUDA ").append(orDash(reading.cudaVersion())).append("\n\n");
            text.append(gpus()).append('\n');
        }
        text.append(offered()).append(incomplete());
        return text.toString();
    }

    /** Returns whether the node has hardware, but none is offered. */
    boolean lacksAll() {
        return devices.offers().isEmpty() && !devices.inventory().leftOut().isEmpty();
    }

    /** Returns the hardware that is left out, and other problems, with their reasons. */
    String incomplete() {
        StringBuilder text = new StringBuilder();
        List<LeftOut> leftOut = devices.inventory().leftOut();
        if (!leftOut.isEmpty()) {
            text.append("\nLeft out:\n");
            leftOut.forEach(one -> line(text, one.device(), one.reason()));
        }
        if (!devices.notes().isEmpty()) {
            text.append("\nIncomplete:\n");
            devices.notes().forEach(one -> line(text, one.subject(), one.reason()));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String subject, String reason) {
        text.append("- ").append(subject).append(": ").append(reason).append('\n');
    }

    private static String orDash(@Nullable String text) {
        return text == null ? "-" : text;
    }

    private String gpus() {
        if (reading.gpus().isEmpty() && reading.problems().isEmpty()) {
            return "The driver works, and has no GPUs.\n";
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("MINOR", "GPU", "UUID", "PCI", "MEMORY", "MIG"));
        for (Gpu gpu : reading.gpus()) {
            rows.add(List.of(
                    String.valueOf(gpu.minor()),
                    orDash(gpu.productName()),
                    gpu.uuid(),
                    gpu.pci().text(),
                    gpu.memory() == null ? "-" : gpu.memory() / MIB + " MiB",
                    mig(gpu.mig())));
        }
        return table(rows);
    }

    private static String mig(@Nullable Mig mig) {
        if (mig == null) {
            return "not capable";
        }
        String now = mig.enabled() ? "enabled" : "disabled";
        return mig.enabled() == mig.pending() ? now : now + ", changes with the next reset";
    }

    private String offered() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("DEVICE", "TYPE", "PROFILE", "MEMORY", "SMS", "UUID"));
        for (Pool pool : devices.inventory().pools()) {
            for (Device device : pool.devices()) {
                rows.add(List.of(
                        device.name().value(),
                        attribute(device, "type"),
                        attribute(device, "profile"),
                        capacity(device, "memory"),
                        capacity(device, "multiprocessors"),
                        attribute(device, "uuid")));
            }
        }
        return rows.size() == 1 ? "No devices would be published.\n" : table(rows);
    }

    private static String attribute(Device device, String name) {
        AttributeValue value = device.attributes().get(name);
        return value instanceof AttributeValue.OfString text ? text.value() : "-";
    }

    private static String capacity(Device device, String name) {
        Capacity capacity = device.capacities().get(name);
        return capacity == null ? "-" : capacity.value().toString();
    }

    /** Returns the rows, with each column as wide as its widest cell. */
    private static String table(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            Arrays.setAll(widths, i -> Math.max(widths[i], row.get(i).length()));
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(("%-" + widths[i] + "s").formatted(row.get(i))).append(GAP);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
