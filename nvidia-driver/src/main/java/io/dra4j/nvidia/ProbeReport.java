// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.runtime.SlicePreview;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What NVML says of a node, and what would be published of it, as text. */
final class ProbeReport {

    private static final long MIB = 1L << 20;

    /** Everything is quoted: without, 0000:17:00.0 reads as a number. */
    private static final YAMLMapper YAML = new YAMLMapper();

    private final Reading reading;
    private final NodeDevices devices;
    private final String nodeName;

    private ProbeReport(Reading reading, NodeDevices devices, String nodeName) {
        this.reading = reading;
        this.devices = devices;
        this.nodeName = nodeName;
    }

    /**
     * Looks at this node.
     *
     * @throws DraException if NVML can't be used; says why, and what to do
     */
    static ProbeReport of(InstallOptions install, String nodeName) {
        try (Nvml nvml = install.here().openNvml()) {
            Reading reading = nvml.read();
            NodeDevices.Settings settings =
                    new NodeDevices.Settings(nodeName, install.sysfsRoot(), install.dynamicMig());
            return new ProbeReport(reading, NodeDevices.of(reading, settings), nodeName);
        }
    }

    String as(ProbeMain.Output form) {
        return form == ProbeMain.Output.yaml ? yaml() : table();
    }

    private String yaml() {
        StringBuilder text = new StringBuilder();
        String driver = NvidiaDriverMain.PROGRAM.defaultDriverName();
        for (String json : SlicePreview.json(driver, nodeName, devices.inventory(), true)) {
            text.append(yaml(json));
        }
        return text.toString();
    }

    private static String yaml(String json) {
        try {
            return YAML.writeValueAsString(new JsonMapper().readTree(json));
        } catch (JsonProcessingException e) {
            throw new DraException("Can't write a slice as YAML", e);
        }
    }

    private String table() {
        StringBuilder text = new StringBuilder();
        text.append("NVIDIA driver ").append(reading.driverVersion());
        text.append(", CUDA ").append(reading.cudaVersion()).append("\n\n");
        if (reading.gpus().isEmpty() && reading.troubles().isEmpty()) {
            return text.append("The driver works, and has no GPUs.\n").toString();
        }
        text.append(gpus()).append('\n');
        text.append(offered());
        if (!devices.troubles().isEmpty()) {
            text.append("\nLeft out:\n");
            devices.troubles().forEach(one -> text.append("- ").append(one).append('\n'));
        }
        return text.toString();
    }

    private String gpus() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("MINOR", "GPU", "UUID", "PCI", "MEMORY", "MIG"));
        for (Gpu gpu : reading.gpus()) {
            rows.add(
                    List.of(
                            String.valueOf(gpu.minor()),
                            gpu.productName(),
                            gpu.uuid(),
                            gpu.pci().text(),
                            gpu.memory() == null ? "shared" : gpu.memory() / MIB + " MiB",
                            mig(gpu.mig())));
        }
        return TextTable.of(rows);
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
                rows.add(
                        List.of(
                                device.name().value(),
                                attribute(device, "type"),
                                attribute(device, "profile"),
                                capacity(device, "memory"),
                                capacity(device, "multiprocessors"),
                                attribute(device, "uuid")));
            }
        }
        return rows.size() == 1 ? "No devices would be published.\n" : TextTable.of(rows);
    }

    private static String attribute(Device device, String name) {
        AttributeValue value = device.attributes().get(name);
        return value instanceof AttributeValue.OfString text ? text.value() : "-";
    }

    private static String capacity(Device device, String name) {
        Capacity capacity = device.capacities().get(name);
        return capacity == null ? "-" : capacity.value().toString();
    }
}
