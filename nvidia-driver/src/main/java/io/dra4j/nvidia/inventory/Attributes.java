// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.nvidia.nvml.Fabric;
import io.dra4j.nvidia.nvml.Gpu;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The attributes of GPUs and their MIG devices.
 *
 * @param driverVersion the driver's version as a semantic version
 * @param cudaVersion the newest version of CUDA that the driver supports, {@code 12.4}
 * @param sysfs the kernel's information on PCI devices
 * @param nvlink the NVLink groups
 */
record Attributes(String driverVersion, String cudaVersion, Sysfs sysfs, NvlinkGroups nvlink) {

    /** Returns the attributes that a GPU and its MIG devices have in common. */
    private Map<String, AttributeValue> common(Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("productName", AttributeValue.of(gpu.productName()));
        attributes.put("brand", AttributeValue.of(gpu.brand()));
        attributes.put("architecture", AttributeValue.of(gpu.architecture().title()));
        attributes.put(
                "cudaComputeCapability", AttributeValue.version(gpu.computeCapability() + ".0"));
        attributes.put("driverVersion", AttributeValue.version(driverVersion));
        attributes.put("cudaDriverVersion", AttributeValue.version(cudaVersion + ".0"));
        String mode = gpu.addressingMode();
        if (mode != null) {
            attributes.put("addressingMode", AttributeValue.of(mode));
        }
        attributes.put(StandardAttributes.PCI_BUS_ID, AttributeValue.of(gpu.pci().text()));
        sysfs.pcieRoot(gpu.pci())
                .map(AttributeValue::of)
                .ifPresent(root -> attributes.put(StandardAttributes.PCIE_ROOT, root));
        sysfs.numaNode(gpu.pci())
                .map(AttributeValue::of)
                .ifPresent(number -> attributes.put(StandardAttributes.NUMA_NODE, number));
        nvlink.of(gpu)
                .map(AttributeValue::of)
                .ifPresent(group -> attributes.put("nvlinkGroup", group));
        Fabric fabric = gpu.fabric();
        if (fabric != null && fabric.complete()) {
            String clique = fabric.clusterUuid() + "." + fabric.cliqueId();
            attributes.put("nvlinkClique", AttributeValue.of(clique));
        }
        return attributes;
    }

    /** Returns the attributes of a whole GPU. */
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
}
