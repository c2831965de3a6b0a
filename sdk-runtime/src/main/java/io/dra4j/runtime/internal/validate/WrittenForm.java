// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.validate.Findings.Field;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rules for what must hold before a pool can be written as slices at all. */
final class WrittenForm {

    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9]{0,62}");

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private WrittenForm() {}

    /** A server takes a pool on a named node, but this driver's pools are on its own. */
    static void check(Findings findings, Placement placement) {
        if (placement instanceof Placement.NamedNode named) {
            Field.ofPool(findings, "nodeName")
                    .refuse(
                            "must be absent: a pool belongs to this node, or each device has" + " whose it is",
                            named.name());
        }
    }

    /** Returns whether a device can be written; adds problems if not. */
    static boolean check(Field field, Device device) {
        boolean isWritten = placement(field, device.placement());
        for (Map.Entry<String, AttributeValue> attribute : device.attributes().entrySet()) {
            Field here = field.child("attributes").key(attribute.getKey());
            isWritten &= list(here, attribute.getValue());
        }
        for (Map.Entry<String, String> raw : device.rawFields().entrySet()) {
            isWritten &= rawField(field, raw.getKey(), raw.getValue());
        }
        for (CounterConsumption consumption : device.consumesCounters()) {
            isWritten &=
                    rawFields(field.child("consumesCounters").key(consumption.counterSet()), consumption.rawFields());
        }
        return isWritten;
    }

    /** An empty list is no value of the API. */
    private static boolean list(Field field, AttributeValue value) {
        if (value instanceof AttributeValue.OfStrings texts) {
            return isSome(field.child("strings"), texts.values());
        } else if (value instanceof AttributeValue.OfVersions versions) {
            return isSome(field.child("versions"), versions.values());
        } else if (value instanceof AttributeValue.OfInts numbers) {
            return isSome(field.child("ints"), numbers.values());
        } else if (value instanceof AttributeValue.OfBools truths) {
            return isSome(field.child("bools"), truths.values());
        }
        return true;
    }

    private static boolean isSome(Field field, List<?> values) {
        if (values.isEmpty()) {
            field.refuse("must not be empty", values);
        }
        return !values.isEmpty();
    }

    private static boolean placement(Field device, @Nullable Placement placement) {
        if (placement instanceof Placement.ThisNode
                || placement instanceof Placement.PerDevice
                || placement instanceof Placement.PublishedElsewhere) {
            device.refuse(
                    "must be on a named node, on matching nodes or on all nodes, if its pool has"
                            + " PerDevice placement, and else where its pool is",
                    placement);
            return false;
        }
        return true;
    }

    /** Only the API server knows the meaning of a field that the SDK has no type for. */
    private static boolean rawField(Field device, String name, String json) {
        if (!FIELD_NAME.matcher(name).matches()) {
            device.child("rawFields").refuse("must be named as fields of the API are", name);
            return false;
        }
        Field field = device.child(name);
        if (SliceCodec.isTyped(name)) {
            field.refuse("must be set by its own method, not as a raw field", json);
            return false;
        }
        return value(field, json) != null;
    }

    /** Returns whether the further fields of counters can be written; adds problems if not. */
    static boolean rawFields(Field counters, Map<String, String> rawFields) {
        boolean isWritten = true;
        for (Map.Entry<String, String> raw : rawFields.entrySet()) {
            JsonNode fields = value(counters.key(raw.getKey()), raw.getValue());
            if (fields != null && (!fields.isObject() || fields.has("value"))) {
                counters.key(raw.getKey()).refuse("must be a JSON object without an amount", raw.getValue());
                fields = null;
            }
            isWritten &= fields != null;
        }
        return isWritten;
    }

    private static @Nullable JsonNode value(Field field, String json) {
        try {
            JsonNode value = MAPPER.readTree(json);
            if (value.isMissingNode() || value.isNull()) {
                field.refuse("must be a JSON value, not null or nothing", json);
                return null;
            }
            return value;
        } catch (JsonProcessingException e) {
            field.refuse("must be JSON (" + Shown.name(e.getOriginalMessage()) + ")", json);
            return null;
        }
    }
}
