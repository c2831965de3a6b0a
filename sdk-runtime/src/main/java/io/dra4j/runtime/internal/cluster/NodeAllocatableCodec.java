// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.Mapping;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.Quantity;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The node's resources that a device takes, in the shapes of Kubernetes 1.36 and of 1.37. */
public final class NodeAllocatableCodec {

    /** The field of 1.36, which has only mappings. */
    public static final String MAPPINGS = "nodeAllocatableResourceMappings";

    /** The field of 1.37, which does not know the one before. */
    public static final String RESOURCES = "nodeAllocatableResources";

    private static final Set<String> QUANTITIES =
            Set.of("allocationMultiplier", "capacityMultiplier", "deviceMultiplier", "perPod", "perContainer");

    private NodeAllocatableCodec() {}

    /** Returns a device with its resources also as raw fields, in each shape that can hold some. */
    public static Device inAllShapes(Device device) {
        if (device.nodeAllocatableResources().isEmpty()) {
            return device;
        }
        ObjectNode mappings = Json.object();
        ObjectNode resources = Json.object();
        device.nodeAllocatableResources().forEach((name, resource) -> {
            if (resource.mapping() != null) {
                mappings.set(name, of136(resource.mapping()));
            }
            resources.set(name, of137(resource));
        });
        Map<String, String> raw = new LinkedHashMap<>(device.rawFields());
        put(raw, MAPPINGS, mappings);
        put(raw, RESOURCES, resources);
        return device.toBuilder().rawFields(raw).build();
    }

    /** Returns a device with its resources only as the raw field of the newest release. */
    public static Device inNewestShape(Device device) {
        if (device.nodeAllocatableResources().isEmpty()) {
            return device;
        }
        Device all = inAllShapes(device);
        Map<String, String> raw = new LinkedHashMap<>(all.rawFields());
        raw.remove(MAPPINGS);
        return all.toBuilder().rawFields(raw).nodeAllocatableResources(Map.of()).build();
    }

    private static void put(Map<String, String> raw, String field, ObjectNode json) {
        if (!json.isEmpty()) {
            raw.put(field, Json.sorted(json));
        }
    }

    private static ObjectNode of136(Mapping mapping) {
        ObjectNode json = Json.object();
        if (mapping instanceof OfCapacity ofCapacity) {
            return json.put("capacityKey", ofCapacity.capacityKey())
                    .put("allocationMultiplier", ofCapacity.multiplier().text());
        }
        return json.put(
                "allocationMultiplier", ((OfDevice) mapping).multiplier().text());
    }

    private static ObjectNode of137(NodeAllocatableResource resource) {
        ObjectNode json = Json.object();
        if (resource.mapping() instanceof OfCapacity ofCapacity) {
            json.putObject("mapping")
                    .put("capacityKey", ofCapacity.capacityKey())
                    .put("capacityMultiplier", ofCapacity.multiplier().text());
        } else if (resource.mapping() instanceof OfDevice ofDevice) {
            json.putObject("mapping")
                    .put("deviceMultiplier", ofDevice.multiplier().text());
        }
        Overhead overhead = resource.overhead();
        if (overhead != null) {
            ObjectNode overheadJson = json.putObject("overhead");
            Json.put(overheadJson, "perPod", overhead.perPod());
            Json.put(overheadJson, "perContainer", overhead.perContainer());
        }
        return json;
    }

    /** Returns whether a field of a device is one of these shapes. */
    static boolean isField(String field) {
        return field.equals(MAPPINGS) || field.equals(RESOURCES);
    }

    /** Returns a raw field in the form in which equal amounts are equal text. */
    static JsonNode canonical(String field, JsonNode value) {
        if (!isField(field)) {
            return value;
        }
        JsonNode copy = value.deepCopy();
        canonicalAmounts(copy);
        return copy;
    }

    private static void canonicalAmounts(JsonNode json) {
        for (Map.Entry<String, JsonNode> field : json.properties()) {
            if (QUANTITIES.contains(field.getKey()) && field.getValue().isTextual()) {
                Quantity amount = new Quantity(field.getValue().asText());
                ((ObjectNode) json).put(field.getKey(), text(amount.amount()));
            } else {
                canonicalAmounts(field.getValue());
            }
        }
    }

    private static String text(BigDecimal amount) {
        BigDecimal plain = amount.stripTrailingZeros();
        boolean isLong = plain.scale() <= 0 && plain.precision() - plain.scale() <= 18;
        return isLong ? Quantity.ofBytes(plain.longValueExact()).text() : plain.toPlainString();
    }
}
