// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.nvidia.nvml.Fabric;
import io.dra4j.nvidia.nvml.Gpu;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a GPU says of itself in attributes, and all that it is divided into. */
final class Attributes {

    private final NodeFacts node;

    Attributes(NodeFacts node) {
        this.node = node;
    }

    /** Those of a GPU and of its parts alike. */
    private Map<String, AttributeValue> common(Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("productName", AttributeValue.of(gpu.productName()));
        attributes.put("brand", AttributeValue.of(gpu.brand()));
        attributes.put("architecture", AttributeValue.of(gpu.architecture().title()));
        attributes.put(
                "cudaComputeCapability", AttributeValue.version(gpu.computeCapability() + ".0"));
        attributes.put("driverVersion", AttributeValue.version(node.driverVersion()));
        attributes.put("cudaDriverVersion", AttributeValue.version(node.cudaVersion() + ".0"));
        String mode = gpu.addressingMode();
        if (mode != null) {
            attributes.put("addressingMode", AttributeValue.of(mode));
        }
        place(gpu, attributes);
        fabric(gpu, attributes);
        return attributes;
    }

    private void place(Gpu gpu, Map<String, AttributeValue> attributes) {
        attributes.put(StandardAttributes.PCI_BUS_ID, AttributeValue.of(gpu.pci().text()));
        node.sysfs()
                .pcieRoot(gpu.pci())
                .ifPresent(
                        root ->
                                attributes.put(
                                        StandardAttributes.PCIE_ROOT, AttributeValue.of(root)));
        node.sysfs()
                .numaNode(gpu.pci())
                .ifPresent(
                        number ->
                                attributes.put(
                                        StandardAttributes.NUMA_NODE,
                                        AttributeValue.of((long) number)));
    }

    private void fabric(Gpu gpu, Map<String, AttributeValue> attributes) {
        node.nvlink()
                .of(gpu)
                .ifPresent(group -> attributes.put("nvlinkGroup", AttributeValue.of(group)));
        Fabric fabric = gpu.fabric();
        if (fabric != null && fabric.complete()) {
            String clique = fabric.clusterUuid() + "." + fabric.cliqueId();
            attributes.put("nvlinkClique", AttributeValue.of(clique));
        }
    }

    /** Of a GPU as a whole. */
    Map<String, AttributeValue> whole(Gpu gpu) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("type", AttributeValue.of("gpu"));
        attributes.put("uuid", AttributeValue.of(gpu.uuid()));
        attributes.putAll(common(gpu));
        return attributes;
    }

    /** Of a part of a GPU, which has a UUID only when it is made. */
    Map<String, AttributeValue> part(Gpu gpu, String profileName) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        attributes.put("type", AttributeValue.of("mig"));
        attributes.put("parentUUID", AttributeValue.of(gpu.uuid()));
        attributes.put("profile", AttributeValue.of(profileName));
        attributes.putAll(common(gpu));
        return attributes;
    }
}
