// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One device of a slice, to JSON and back. */
final class DeviceCodec {

    /** The fields that are not read as raw fields. */
    static final Set<String> KNOWN = Set.of(
            "name",
            "attributes",
            "capacity",
            "allowMultipleAllocations",
            "consumesCounters",
            "taints",
            "nodeName",
            "nodeSelector",
            "allNodes",
            "bindingConditions",
            "bindingFailureConditions",
            "bindsToNode");

    // The order of these lists is irrelevant; sorted, they are equal if they mean the same.
    private static final Comparator<CounterConsumption> BY_COUNTER_SET =
            Comparator.comparing(CounterConsumption::counterSet);
    private static final Comparator<Taint> BY_TAINT = Comparator.comparing(Taint::key)
            .thenComparing(taint -> Objects.requireNonNullElse(taint.value(), ""))
            .thenComparing(Taint::effect);

    private static final String AMOUNT = "value";

    private DeviceCodec() {}

    static ObjectNode encode(Device device) {
        ObjectNode json = Json.object().put("name", device.name().value());
        Json.putMap(json, "attributes", device.attributes(), AttributeCodec::encode);
        Json.putMap(json, "capacity", device.capacities(), DeviceCodec::capacity);
        putTrue(json, "allowMultipleAllocations", device.allowMultipleAllocations());
        Json.putList(json, "consumesCounters", device.consumesCounters(), DeviceCodec::consumption);
        Json.putList(json, "taints", device.taints(), DeviceCodec::taint);
        if (device.placement() != null) {
            PlacementCodec.putDevice(json, device.placement());
        }
        Json.putStrings(json, "bindingConditions", device.binding().conditions());
        Json.putStrings(json, "bindingFailureConditions", device.binding().failureConditions());
        putTrue(json, "bindsToNode", device.bindsToNode());
        device.rawFields().forEach((field, text) -> json.set(field, rawField(device, field, text)));
        return json;
    }

    static Device decode(JsonNode json) {
        return Device.builder(json.path("name").asText())
                .attributes(AttributeCodec.decodeAll(json.path("attributes")))
                .capacities(Json.map(json.path("capacity"), DeviceCodec::capacity))
                .allowMultipleAllocations(json.path("allowMultipleAllocations").asBoolean(false))
                .consumesCounters(sorted(json, "consumesCounters", DeviceCodec::consumption, BY_COUNTER_SET))
                .taints(sorted(json, "taints", DeviceCodec::taint, BY_TAINT))
                .placement(PlacementCodec.ofDevice(json))
                .binding(new BindingConditions(
                        Json.sortedStrings(json.path("bindingConditions")),
                        Json.sortedStrings(json.path("bindingFailureConditions"))))
                .bindsToNode(json.path("bindsToNode").asBoolean(false))
                .rawFields(rawFields(json))
                .build();
    }

    private static <T> List<T> sorted(JsonNode json, String field, Function<JsonNode, T> read, Comparator<T> order) {
        return Json.list(json.path(field), read).stream().sorted(order).toList();
    }

    private static JsonNode rawField(Device device, String field, String text) {
        if (KNOWN.contains(field)) {
            throw new IllegalArgumentException(
                    "Device %s: raw field %s has its own method".formatted(device.name(), field));
        }
        try {
            return Json.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Device " + device.name() + ": raw field " + field + ": " + e.getMessage(), e);
        }
    }

    private static Map<String, String> rawFields(JsonNode json) {
        Map<String, String> raw = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : json.properties()) {
            if (!KNOWN.contains(field.getKey())) {
                JsonNode value = NodeAllocatableCodec.canonical(field.getKey(), field.getValue());
                raw.put(field.getKey(), Json.sorted(value));
            }
        }
        return raw;
    }

    private static void putTrue(ObjectNode json, String field, boolean value) {
        if (value) {
            json.put(field, true);
        }
    }

    private static ObjectNode capacity(Capacity capacity) {
        ObjectNode json = Json.object().put("value", capacity.value().text());
        RequestPolicy policy = capacity.requestPolicy();
        if (policy != null) {
            ObjectNode policyJson = json.putObject("requestPolicy");
            Json.put(policyJson, "default", policy.defaultValue());
            Json.putStrings(
                    policyJson,
                    "validValues",
                    policy.validValues().stream().map(Quantity::text).toList());
            putRange(policyJson, policy.validRange());
        }
        return json;
    }

    private static void putRange(ObjectNode json, RequestPolicy.@Nullable ValidRange range) {
        if (range != null) {
            ObjectNode rangeJson = json.putObject("validRange");
            Json.put(rangeJson, "min", range.min());
            Json.put(rangeJson, "max", range.max());
            Json.put(rangeJson, "step", range.step());
        }
    }

    private static Capacity capacity(JsonNode json) {
        JsonNode policy = json.path("requestPolicy");
        return new Capacity(
                new Quantity(json.path("value").asText()),
                policy.isObject()
                        ? new RequestPolicy(
                                quantity(policy.path("default")),
                                Json.list(policy.path("validValues"), v -> new Quantity(v.asText())),
                                range(policy.path("validRange")))
                        : null);
    }

    private static RequestPolicy.@Nullable ValidRange range(JsonNode json) {
        return json.isObject()
                ? new RequestPolicy.ValidRange(
                        new Quantity(json.path("min").asText()),
                        quantity(json.path("max")),
                        quantity(json.path("step")))
                : null;
    }

    private static @Nullable Quantity quantity(JsonNode json) {
        return json.isValueNode() && !json.isNull() ? new Quantity(json.asText()) : null;
    }

    private static ObjectNode consumption(CounterConsumption consumption) {
        ObjectNode json = Json.object().put("counterSet", consumption.counterSet());
        json.set("counters", counters(consumption.counters(), consumption.rawFields()));
        Json.putStrings(json, "compatibilityGroups", consumption.compatibilityGroups());
        return json;
    }

    private static CounterConsumption consumption(JsonNode json) {
        CounterConsumption.Builder consumption = CounterConsumption.builder(
                        json.path("counterSet").asText())
                .counters(counters(json.path("counters")))
                .compatibilityGroups(Json.sortedStrings(json.path("compatibilityGroups")));
        readRawFields(json.path("counters"), consumption::rawFields);
        return consumption.build();
    }

    static ObjectNode counters(Map<String, Quantity> counters, Map<String, String> rawFields) {
        ObjectNode json = Json.object();
        counters.forEach((name, amount) -> json.putObject(name).put(AMOUNT, amount.text()));
        rawFields.forEach((name, fields) -> Json.parse(fields)
                .properties()
                .forEach(field -> json.withObjectProperty(name).set(field.getKey(), field.getValue())));
        return json;
    }

    /** Returns the amounts; a counter may have its amount in another field, which a server may leave out. */
    static Map<String, Quantity> counters(JsonNode json) {
        Map<String, Quantity> amounts = new LinkedHashMap<>();
        json.properties().stream()
                .filter(counter -> counter.getValue().has(AMOUNT))
                .forEach(counter -> amounts.put(
                        counter.getKey(),
                        new Quantity(counter.getValue().path(AMOUNT).asText())));
        return amounts;
    }

    static void readRawFields(JsonNode counters, BiConsumer<String, String> raw) {
        for (Map.Entry<String, JsonNode> counter : counters.properties()) {
            ObjectNode fields = Json.object();
            counter.getValue().properties().forEach(field -> fields.set(field.getKey(), field.getValue()));
            fields.remove(AMOUNT);
            if (!fields.isEmpty()) {
                raw.accept(counter.getKey(), Json.sorted(fields));
            }
        }
    }

    private static ObjectNode taint(Taint taint) {
        ObjectNode json = Json.object().put("key", taint.key());
        if (taint.value() != null) {
            json.put("value", taint.value());
        }
        json.put("effect", taint.effect().apiName());
        if (taint.timeAdded() != null) {
            json.put(
                    "timeAdded",
                    taint.timeAdded().truncatedTo(ChronoUnit.SECONDS).toString());
        }
        return json;
    }

    private static Taint taint(JsonNode json) {
        String effect = json.path("effect").asText();
        return new Taint(
                json.path("key").asText(),
                json.path("value").asText("").isEmpty()
                        ? null
                        : json.path("value").asText(),
                Stream.of(Taint.Effect.values())
                        .filter(known -> known.apiName().equals(effect))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("Unknown effect " + effect)),
                time(json.path("timeAdded")));
    }

    private static @Nullable Instant time(JsonNode json) {
        try {
            return json.isTextual() ? Instant.parse(json.asText()) : null;
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("Not a time: " + json.asText(), e);
        }
    }

    static List<Device> decodeAll(JsonNode devices) {
        return Json.list(devices, DeviceCodec::decode);
    }

    /** The attributes of a device, to JSON and back: an object with one field, which names the type. */
    static final class AttributeCodec {

        static final Map<Class<? extends AttributeValue>, String> TYPES = Map.of(
                AttributeValue.OfString.class, "string",
                AttributeValue.OfInt.class, "int",
                AttributeValue.OfBool.class, "bool",
                AttributeValue.OfVersion.class, "version",
                AttributeValue.OfStrings.class, "strings",
                AttributeValue.OfInts.class, "ints",
                AttributeValue.OfBools.class, "bools",
                AttributeValue.OfVersions.class, "versions");

        private AttributeCodec() {}

        /** Each type of value is a record of one component, and an object of one field. */
        static ObjectNode encode(AttributeValue value) {
            JsonNode component = Json.tree(value).elements().next();
            return Json.object().set(Objects.requireNonNull(TYPES.get(value.getClass())), component);
        }

        /** Leaves out attributes without a value, which a server returns for types that it does not know. */
        static Map<String, AttributeValue> decodeAll(JsonNode json) {
            Map<String, AttributeValue> attributes = Json.map(json, AttributeCodec::decode);
            attributes.values().removeIf(Objects::isNull);
            return attributes;
        }

        private static @Nullable AttributeValue decode(JsonNode json) {
            if (json.has("string")) {
                return AttributeValue.of(json.get("string").asText());
            } else if (json.has("int")) {
                return AttributeValue.of(json.get("int").asLong());
            } else if (json.has("bool")) {
                return AttributeValue.of(json.get("bool").asBoolean());
            } else if (json.has("version")) {
                return AttributeValue.version(json.get("version").asText());
            } else if (json.has("strings")) {
                return new AttributeValue.OfStrings(Json.strings(json.get("strings")));
            } else if (json.has("ints")) {
                return new AttributeValue.OfInts(Json.list(json.get("ints"), JsonNode::asLong));
            } else if (json.has("bools")) {
                return new AttributeValue.OfBools(Json.list(json.get("bools"), JsonNode::asBoolean));
            } else if (json.has("versions")) {
                return new AttributeValue.OfVersions(Json.strings(json.get("versions")));
            }
            return null;
        }
    }
}
