// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * A device as a slice publishes it.
 *
 * @param nodes the nodes where it can be used, if its slice leaves that to its devices
 * @param sharing whether several claims may have a share of it
 * @param consumes the amounts of its pool's counters that it consumes while it is allocated
 * @param grouped whether it uses compatibility groups
 */
public record Device(
        String name,
        Map<String, AttributeValue> attributes,
        Map<String, Capacity> capacity,
        NodeChoice nodes,
        boolean bindsToNode,
        boolean sharing,
        List<CounterSet> consumes,
        boolean grouped,
        List<Taint> taints,
        List<String> bindingConditions,
        List<String> bindingFailureConditions) {

    /**
     * Reads a device of a slice.
     *
     * @throws InvalidObjectException if a quantity is malformed
     */
    public static Device of(JsonNode json) {
        String name = JsonFields.shared(json, "name");
        return JsonFields.at("device " + name, () -> of(name, json));
    }

    /** In v1beta1 all fields except the name are those of {@code basic}. */
    private static Device of(String name, JsonNode json) {
        JsonNode fields = json.path("basic").isObject() ? json.path("basic") : json;
        JsonNode consumes = fields.path("consumesCounters");
        return new Device(
                name,
                JsonFields.map(fields, "attributes", AttributeValue::of),
                JsonFields.map(fields, "capacity", Capacity::of),
                NodeChoice.of(fields),
                fields.path("bindsToNode").asBoolean(),
                fields.path("allowMultipleAllocations").asBoolean(),
                JsonFields.list(fields, "consumesCounters", one -> CounterSet.of(one, "counterSet")),
                consumes.valueStream()
                        .anyMatch(one -> !one.path("compatibilityGroups").isEmpty()),
                JsonFields.list(fields, "taints", Taint::of),
                JsonFields.texts(fields, "bindingConditions"),
                JsonFields.texts(fields, "bindingFailureConditions"));
    }

    public Device withTaints(List<Taint> others) {
        return with(consumes, others);
    }

    public Device withoutCounters() {
        return consumes.isEmpty() ? this : with(List.of(), taints);
    }

    private Device with(List<CounterSet> consumes, List<Taint> taints) {
        return new Device(
                name,
                attributes,
                capacity,
                nodes,
                bindsToNode,
                sharing,
                consumes,
                grouped,
                taints,
                bindingConditions,
                bindingFailureConditions);
    }
}
