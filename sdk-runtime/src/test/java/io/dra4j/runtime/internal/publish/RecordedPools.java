// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The spec of a slice as a pool of the SPI: as a provider would have to build it. */
final class RecordedPools {

    private RecordedPools() {}

    /**
     * Builds the pool of a slice.
     *
     * @throws RuntimeException if the SPI has no words for it
     */
    static Pool of(JsonNode spec) {
        return Pool.builder("pool-1")
                .placement(placementOfPool(spec))
                .devices(list(spec.path("devices"), RecordedPools::device))
                .counterSets(list(spec.path("sharedCounters"), RecordedPools::counterSet))
                .build();
    }

    private static Placement placementOfPool(JsonNode spec) {
        if (spec.has("nodeName")) {
            return new Placement.ThisNode();
        }
        return spec.has("perDeviceNodeSelection") ? new Placement.PerDevice() : some(placement(spec));
    }

    private static @Nullable Placement placement(JsonNode json) {
        if (json.has("nodeName")) {
            return new Placement.NamedNode(text(json, "nodeName"));
        } else if (json.has("nodeSelector")) {
            return new Placement.MatchingNodes(selector(json.get("nodeSelector")));
        }
        return json.has("allNodes") ? new Placement.AllNodes() : null;
    }

    private static NodeSelector selector(JsonNode json) {
        JsonNode term = json.get("nodeSelectorTerms").get(0);
        List<Requirement> all = new ArrayList<>();
        all.addAll(list(term.path("matchExpressions"), it -> requirement(it, Subject.LABEL)));
        all.addAll(list(term.path("matchFields"), it -> requirement(it, Subject.FIELD)));
        return new NodeSelector(all);
    }

    private static Requirement requirement(JsonNode json, Subject subject) {
        Operator operator = Stream.of(Operator.values())
                .filter(it -> it.apiName().equals(json.path("operator").asText()))
                .findFirst()
                .orElseThrow();
        return new Requirement(text(json, "key"), operator, list(json.path("values"), JsonNode::textValue), subject);
    }

    private static Device device(JsonNode json) {
        BindingConditions binding = new BindingConditions(
                list(json.path("bindingConditions"), JsonNode::textValue),
                list(json.path("bindingFailureConditions"), JsonNode::textValue));
        return Device.builder(text(json, "name"))
                .attributes(map(json.path("attributes"), RecordedPools::attribute))
                .capacities(map(json.path("capacity"), RecordedPools::capacity))
                .allowMultipleAllocations(json.path("allowMultipleAllocations").asBoolean())
                .consumesCounters(list(json.path("consumesCounters"), RecordedPools::consumption))
                .taints(list(json.path("taints"), RecordedPools::taint))
                .placement(placement(json))
                .binding(binding)
                .bindsToNode(json.path("bindsToNode").asBoolean())
                .build();
    }

    private static AttributeValue attribute(JsonNode json) {
        JsonNode value = json.properties().iterator().next().getValue();
        return switch (json.fieldNames().next()) {
            case "string" -> AttributeValue.of(value.textValue());
            case "int" -> AttributeValue.of(value.longValue());
            case "bool" -> AttributeValue.of(value.booleanValue());
            case "version" -> AttributeValue.version(value.textValue());
            case "strings" -> new AttributeValue.OfStrings(list(value, JsonNode::textValue));
            case "ints" -> new AttributeValue.OfInts(list(value, JsonNode::longValue));
            case "bools" -> new AttributeValue.OfBools(list(value, JsonNode::booleanValue));
            default -> new AttributeValue.OfVersions(list(value, JsonNode::textValue));
        };
    }

    private static Capacity capacity(JsonNode json) {
        return new Capacity(some(quantity(json.path("value"))), policy(json.get("requestPolicy")));
    }

    private static @Nullable RequestPolicy policy(@Nullable JsonNode json) {
        if (json == null) {
            return null;
        }
        JsonNode range = json.path("validRange");
        return new RequestPolicy(
                quantity(json.path("default")),
                list(json.path("validValues"), it -> some(quantity(it))),
                range.isMissingNode()
                        ? null
                        : new RequestPolicy.ValidRange(
                                some(quantity(range.path("min"))),
                                quantity(range.path("max")),
                                quantity(range.path("step"))));
    }

    private static CounterConsumption consumption(JsonNode json) {
        return CounterConsumption.of(text(json, "counterSet"), counters(json));
    }

    private static CounterSet counterSet(JsonNode json) {
        return CounterSet.of(text(json, "name"), counters(json));
    }

    private static Map<String, Quantity> counters(JsonNode json) {
        return map(json.path("counters"), it -> some(quantity(it.path("value"))));
    }

    private static Taint taint(JsonNode json) {
        Taint.Effect effect = Stream.of(Taint.Effect.values())
                .filter(it -> it.apiName().equals(json.path("effect").asText()))
                .findFirst()
                .orElseThrow();
        String time = json.path("timeAdded").textValue();
        return new Taint(
                text(json, "key"), json.path("value").textValue(), effect, time == null ? null : Instant.parse(time));
    }

    private static @Nullable Quantity quantity(JsonNode json) {
        return json.isMissingNode() ? null : new Quantity(json.asText());
    }

    private static String text(JsonNode json, String field) {
        return some(json.path(field).textValue());
    }

    private static <T> T some(@Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException("the SPI wants a value");
        }
        return value;
    }

    private static <T> List<T> list(JsonNode array, Function<JsonNode, T> read) {
        return array.valueStream().map(read).toList();
    }

    private static <T> Map<String, T> map(JsonNode object, Function<JsonNode, T> read) {
        Map<String, T> map = new LinkedHashMap<>();
        object.properties().forEach(it -> map.put(it.getKey(), read.apply(it.getValue())));
        return map;
    }
}
