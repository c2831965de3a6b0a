// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static java.util.Map.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.FeatureGate;
import io.dra4j.testkit.apiserver.model.FeatureGates;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Drops fields of disabled gates without an error, unless the old object already uses that feature.
 * In paths such as {@code spec.devices.*.taints} a star is every element or value.
 */
final class GatedFields {
    static final Map<FeatureGate, List<String>> OF_SLICES =
            Map.ofEntries(
                    entry(FeatureGate.DRA_DEVICE_TAINTS, List.of("spec.devices.*.taints")),
                    entry(
                            FeatureGate.DRA_PARTITIONABLE_DEVICES,
                            List.of(
                                    "spec.sharedCounters",
                                    "spec.perDeviceNodeSelection",
                                    "spec.devices.*.consumesCounters",
                                    "spec.devices.*.nodeName",
                                    "spec.devices.*.nodeSelector",
                                    "spec.devices.*.allNodes")),
                    entry(
                            FeatureGate.DRA_PARTITIONABLE_DEVICES_TYPE,
                            List.of("spec.partitionTypeAttribute")),
                    entry(
                            FeatureGate.DRA_DEVICE_BINDING_CONDITIONS,
                            List.of(
                                    "spec.devices.*.bindingConditions",
                                    "spec.devices.*.bindingFailureConditions",
                                    "spec.devices.*.bindsToNode")),
                    entry(
                            FeatureGate.DRA_CONSUMABLE_CAPACITY,
                            List.of(
                                    "spec.devices.*.allowMultipleAllocations",
                                    "spec.devices.*.capacity.*.requestPolicy")),
                    entry(
                            FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES,
                            List.of(
                                    "spec.devices.*.nodeAllocatableResourceMappings",
                                    "spec.devices.*.nodeAllocatableResources")),
                    entry(
                            FeatureGate.DRA_LIST_TYPE_ATTRIBUTES,
                            List.of(
                                    "spec.devices.*.attributes.*.ints",
                                    "spec.devices.*.attributes.*.bools",
                                    "spec.devices.*.attributes.*.strings",
                                    "spec.devices.*.attributes.*.versions")),
                    entry(
                            FeatureGate.DRA_OPTIONAL_NODE_OPERATIONS,
                            List.of("spec.skipNodeOperations")),
                    entry(
                            FeatureGate.DRA_DEVICE_COMPATIBILITY_GROUPS,
                            List.of("spec.devices.*.consumesCounters.*.compatibilityGroups")));

    static final Map<FeatureGate, List<String>> OF_CLAIM_STATUS =
            Map.of(
                    FeatureGate.DRA_RESOURCE_CLAIM_DEVICE_STATUS, List.of("status.devices"),
                    FeatureGate.DRA_CONSUMABLE_CAPACITY,
                            List.of(
                                    "status.allocation.devices.results.*.shareID",
                                    "status.allocation.devices.results.*.consumedCapacity"),
                    FeatureGate.DRA_DEVICE_BINDING_CONDITIONS,
                            List.of(
                                    "status.allocation.devices.results.*.bindingConditions",
                                    "status.allocation.devices.results.*.bindingFailureConditions"));

    static final Map<FeatureGate, List<String>> OF_CLAIM_SPEC =
            Map.of(
                    FeatureGate.DRA_CONSUMABLE_CAPACITY,
                            List.of(
                                    "spec.devices.requests.*.exactly.capacity",
                                    "spec.devices.requests.*.firstAvailable.*.capacity",
                                    "spec.devices.constraints.*.distinctAttribute"),
                    FeatureGate.DRA_DEVICE_TAINTS,
                            List.of(
                                    "spec.devices.requests.*.exactly.tolerations",
                                    "spec.devices.requests.*.firstAvailable.*.tolerations"));

    static final Map<FeatureGate, List<String>> OF_CLASSES =
            Map.of(FeatureGate.DRA_EXTENDED_RESOURCE, List.of("spec.extendedResourceName"));

    private GatedFields() {}

    static void drop(
            Map<FeatureGate, List<String>> fields,
            FeatureGates gates,
            ObjectNode next,
            @Nullable ObjectNode old) {
        fields.forEach(
                (gate, paths) -> {
                    boolean inUse = old != null && paths.stream().anyMatch(path -> used(old, path));
                    if (gates.disabled(gate) && !inUse) {
                        paths.forEach(path -> remove(next, path));
                    }
                });
    }

    static boolean used(JsonNode node, String path) {
        return walk(node, steps(path), (parent, field) -> parent.has(field));
    }

    private static void remove(JsonNode node, String path) {
        walk(
                node,
                steps(path),
                (parent, field) -> {
                    parent.remove(field);
                    return false;
                });
    }

    private static List<String> steps(String path) {
        return Arrays.asList(path.split("\\."));
    }

    /** Visits every parent of the last step until a visit answers true. */
    private static boolean walk(
            JsonNode node, List<String> steps, BiPredicate<ObjectNode, String> visit) {
        if (steps.size() == 1) {
            return node instanceof ObjectNode parent && visit.test(parent, steps.get(0));
        }
        List<String> rest = steps.subList(1, steps.size());
        if (!steps.get(0).equals("*")) {
            return walk(node.path(steps.get(0)), rest, visit);
        }
        for (JsonNode child : node) {
            if (walk(child, rest, visit)) {
                return true;
            }
        }
        return false;
    }
}
