// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Drops fields of disabled gates without an error, unless the old object already uses that feature.
 * In paths such as {@code spec.devices.*.taints} a star is every element or value.
 */
final class GatedFields {
    static final Map<FeatureGate, List<String>> OF_SLICES = table("""
                    DRA_DEVICE_TAINTS spec.devices.*.taints
                    DRA_PARTITIONABLE_DEVICES spec.sharedCounters spec.perDeviceNodeSelection
                    DRA_PARTITIONABLE_DEVICES spec.devices.*.consumesCounters
                    DRA_PARTITIONABLE_DEVICES spec.devices.*.nodeName spec.devices.*.nodeSelector
                    DRA_PARTITIONABLE_DEVICES spec.devices.*.allNodes
                    DRA_PARTITIONABLE_DEVICES_TYPE spec.partitionTypeAttribute
                    DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindingConditions
                    DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindingFailureConditions
                    DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindsToNode
                    DRA_CONSUMABLE_CAPACITY spec.devices.*.allowMultipleAllocations
                    DRA_CONSUMABLE_CAPACITY spec.devices.*.capacity.*.requestPolicy
                    DRA_NODE_ALLOCATABLE_RESOURCES spec.devices.*.nodeAllocatableResourceMappings
                    DRA_NODE_ALLOCATABLE_RESOURCES spec.devices.*.nodeAllocatableResources
                    DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.ints
                    DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.bools
                    DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.strings
                    DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.versions
                    DRA_OPTIONAL_NODE_OPERATIONS spec.skipNodeOperations
                    DRA_DEVICE_COMPATIBILITY_GROUPS spec.devices.*.consumesCounters.*.compatibilityGroups
                    """);

    private static final String CLAIM_SPEC = """
            DRA_ADMIN_ACCESS spec.devices.requests.*.exactly.adminAccess
            DRA_PRIORITIZED_LIST spec.devices.requests.*.firstAvailable
            DRA_CONSUMABLE_CAPACITY spec.devices.requests.*.exactly.capacity
            DRA_CONSUMABLE_CAPACITY spec.devices.requests.*.firstAvailable.*.capacity
            DRA_CONSUMABLE_CAPACITY spec.devices.constraints.*.distinctAttribute
            DRA_DEVICE_TAINTS spec.devices.requests.*.exactly.tolerations
            DRA_DEVICE_TAINTS spec.devices.requests.*.firstAvailable.*.tolerations
            DRA_DERIVED_ATTRIBUTES spec.devices.requests.*.exactly.derivedAttributes
            DRA_DERIVED_ATTRIBUTES spec.devices.requests.*.firstAvailable.*.derivedAttributes
            """;

    static final Map<FeatureGate, List<String>> OF_CLAIMS = table(CLAIM_SPEC + """
                    DRA_ADMIN_ACCESS status.allocation.devices.results.*.adminAccess
                    DRA_RESOURCE_CLAIM_DEVICE_STATUS status.devices
                    DRA_CONSUMABLE_CAPACITY status.allocation.devices.results.*.shareID
                    DRA_CONSUMABLE_CAPACITY status.allocation.devices.results.*.consumedCapacity
                    DRA_DEVICE_BINDING_CONDITIONS status.allocation.devices.results.*.bindingConditions
                    DRA_DEVICE_BINDING_CONDITIONS status.allocation.devices.results.*.bindingFailureConditions
                    DRA_OPTIONAL_NODE_OPERATIONS status.allocation.devices.results.*.skipNodeOperations
                    """);

    static final Map<FeatureGate, List<String>> OF_TEMPLATES = table(CLAIM_SPEC.replace(" spec.", " spec.spec."));

    static final Map<FeatureGate, List<String>> OF_CLASSES = table("DRA_EXTENDED_RESOURCE spec.extendedResourceName");

    private static Map<FeatureGate, List<String>> table(String lines) {
        Map<FeatureGate, List<String>> fields = new EnumMap<>(FeatureGate.class);
        for (String line : lines.lines().toList()) {
            List<String> words = List.of(line.split(" "));
            fields.computeIfAbsent(FeatureGate.valueOf(words.get(0)), gate -> new ArrayList<>())
                    .addAll(words.subList(1, words.size()));
        }
        return fields;
    }

    private GatedFields() {}

    static void drop(
            Map<FeatureGate, List<String>> fields, FeatureGates gates, ObjectNode next, @Nullable ObjectNode old) {
        fields.forEach((gate, paths) -> {
            boolean inUse = old != null && paths.stream().anyMatch(path -> used(old, path));
            if (!gates.enabled(gate) && !inUse) {
                paths.forEach(path -> remove(next, path));
            }
        });
    }

    static boolean used(JsonNode node, String path) {
        return walk(node, steps(path), (parent, field) -> parent.has(field));
    }

    private static void remove(JsonNode node, String path) {
        walk(node, steps(path), (parent, field) -> {
            parent.remove(field);
            return false;
        });
    }

    private static List<String> steps(String path) {
        return Arrays.asList(path.split("\\."));
    }

    /** Visits every parent of the last step until a visit returns true. */
    private static boolean walk(JsonNode node, List<String> steps, BiPredicate<ObjectNode, String> visit) {
        if (steps.size() == 1) {
            return node instanceof ObjectNode parent && visit.test(parent, steps.get(0));
        }
        List<String> rest = steps.subList(1, steps.size());
        if (!steps.get(0).equals("*")) {
            return walk(node.path(steps.get(0)), rest, visit);
        }
        return node.valueStream().anyMatch(child -> walk(child, rest, visit));
    }
}
