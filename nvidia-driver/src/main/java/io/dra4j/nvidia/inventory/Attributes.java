// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.nvidia.nvml.Architecture;
import io.dra4j.nvidia.nvml.Fabric;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.NumaNodes;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builds the attributes of GPUs and their MIG devices, for one reading on one thread. */
final class Attributes {

    private final @Nullable AttributeValue driverVersion;
    private final @Nullable String cudaVersion;
    private final PciBus bus;
    private final NvlinkGroups nvlink;
    private final boolean hasLists;

    /** Kernel files are read once for a GPU, not for each of its MIG devices. */
    private final Map<Gpu, Map<String, AttributeValue>> common = new IdentityHashMap<>();

    /**
     * Builds the attributes of a node's GPUs.
     *
     * @param driverVersion the driver's version; null if it is malformed
     * @param cudaVersion the newest version of CUDA that the driver supports, {@code 12.4}; null if it is unknown
     * @param hasLists whether the API server keeps attributes that are lists
     */
    Attributes(
            @Nullable AttributeValue driverVersion,
            @Nullable String cudaVersion,
            PciBus bus,
            NvlinkGroups nvlink,
            boolean hasLists) {
        this.driverVersion = driverVersion;
        this.cudaVersion = cudaVersion;
        this.bus = bus;
        this.nvlink = nvlink;
        this.hasLists = hasLists;
    }

    private Map<String, AttributeValue> common(Gpu gpu) {
        return common.computeIfAbsent(gpu, this::read);
    }

    private Map<String, AttributeValue> read(Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        Architecture architecture = gpu.architecture();
        putText(attributes, "productName", gpu.productName());
        putText(attributes, "brand", gpu.brand());
        putText(attributes, "architecture", architecture == null ? null : architecture.title());
        putVersion(attributes, "cudaComputeCapability", gpu.computeCapability());
        if (driverVersion != null) {
            attributes.put("driverVersion", driverVersion);
        }
        putVersion(attributes, "cudaDriverVersion", cudaVersion);
        putText(attributes, "addressingMode", gpu.addressingMode());
        putPlace(attributes, gpu.pci());
        nvlink.of(gpu).map(AttributeValue::of).ifPresent(group -> attributes.put("nvlinkGroup", group));
        Fabric fabric = gpu.fabric();
        if (fabric != null && fabric.clusterUuid() != null && fabric.complete()) {
            String clique = fabric.clusterUuid() + "." + fabric.cliqueId();
            attributes.put("nvlinkClique", AttributeValue.of(clique));
        }
        return attributes;
    }

    /** Adds the attributes that show which devices of the node are close to each other. */
    private void putPlace(Map<String, AttributeValue> attributes, PciAddress device) {
        attributes.put(StandardAttributes.PCI_BUS_ID, AttributeValue.of(device.text()));
        bus.pcieRoot(device)
                .map(AttributeValue::of)
                .ifPresent(root -> attributes.put(StandardAttributes.PCIE_ROOT, root));
        NumaNodes nodes = new NumaNodes(bus);
        Optional<AttributeValue> node = hasLists
                ? nodes.around(device).map(AttributeValue.OfInts::new)
                : nodes.withCpus(device).map(AttributeValue::of);
        node.ifPresent(value -> attributes.put(StandardAttributes.NUMA_NODE, value));
    }

    private static void putText(Map<String, AttributeValue> attributes, String name, @Nullable String text) {
        if (text != null) {
            attributes.put(name, AttributeValue.of(text));
        }
    }

    private static void putVersion(Map<String, AttributeValue> attributes, String name, @Nullable String twoNumbers) {
        if (twoNumbers != null) {
            attributes.put(name, AttributeValue.version(twoNumbers + ".0"));
        }
    }

    Map<String, AttributeValue> whole(Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("type", AttributeValue.of("gpu"));
        attributes.put("uuid", AttributeValue.of(gpu.uuid()));
        attributes.putAll(common(gpu));
        return attributes;
    }

    /** Returns the attributes of a MIG device, without the UUID that it has once it exists. */
    Map<String, AttributeValue> mig(Gpu gpu, String profileName) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("type", AttributeValue.of("mig"));
        attributes.put("parentUUID", AttributeValue.of(gpu.uuid()));
        attributes.put("profile", AttributeValue.of(profileName));
        attributes.putAll(common(gpu));
        return attributes;
    }

    /**
     * Returns the attributes of a GPU for a virtual machine.
     *
     * @param gpu the GPU as NVML reported it; null if NVML has not seen it since the boot
     */
    Map<String, AttributeValue> vfio(PciFunction function, @Nullable Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("type", AttributeValue.of("vfio"));
        attributes.put("uuid", AttributeValue.of(DeviceNames.uuid(function.address())));
        attributes.put("deviceID", AttributeValue.of("0x%04x".formatted(function.device())));
        attributes.put("vendorID", AttributeValue.of("0x%04x".formatted(function.vendor())));
        putText(attributes, "productName", gpu == null ? null : gpu.productName());
        attributes.put("iommuFDEnabled", AttributeValue.of(bus.hasIommufd()));
        putPlace(attributes, function.address());
        return attributes;
    }
}
