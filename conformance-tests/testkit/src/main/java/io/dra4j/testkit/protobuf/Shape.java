// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message that JSON does not show as an object of its fields. */
enum Shape {
    /** Text; an empty text is zero. */
    QUANTITY,
    /** RFC 3339 in seconds. */
    TIME,
    /** RFC 3339 in microseconds. */
    MICRO_TIME,
    /** A number, or text. */
    INT_OR_STRING,
    /** JSON in bytes: RawExtension. */
    RAW,
    /** JSON in bytes: the fields that a manager owns. */
    FIELDS;

    private static final String PACKAGES = "k8s.io.apimachinery.pkg.";
    private static final Map<String, Shape> BY_NAME = Map.of(
            PACKAGES + "api.resource.Quantity", QUANTITY,
            PACKAGES + "apis.meta.v1.Time", TIME,
            PACKAGES + "apis.meta.v1.MicroTime", MICRO_TIME,
            PACKAGES + "apis.meta.v1.FieldsV1", FIELDS,
            PACKAGES + "util.intstr.IntOrString", INT_OR_STRING,
            PACKAGES + "runtime.RawExtension", RAW);

    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss'Z'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter MICROSECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** Years that RFC 3339 can write. */
    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");

    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    /** Below the maximum depth of a tree, so that an object around it can be written. */
    private static final int DEEPEST = 900;

    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder().maxNestingDepth(DEEPEST).build();
    private static final JsonMapper JSON = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(LIMITS).build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** The shape of a message, null for one that is an object of its fields. */
    static @Nullable Shape of(MessageType type) {
        return BY_NAME.get(type.descriptor().getFullName());
    }

    JsonNode read(Message message, Where where) {
        return switch (this) {
            case QUANTITY -> quantity(message);
            case TIME -> time(message, SECONDS, where);
            case MICRO_TIME -> time(message, MICROSECONDS, where);
            case INT_OR_STRING -> intOrString(message, where);
            case RAW -> json(message, "raw", where);
            case FIELDS -> json(message, "Raw", where);
        };
    }

    /** Writes a value, or the form of an unset one when it is null. */
    void write(JsonNode value, Message.Builder into, Where where) {
        switch (this) {
            case QUANTITY -> quantity(value, into, where);
            case TIME -> time(value, into, ChronoUnit.SECONDS, where);
            case MICRO_TIME -> time(value, into, ChronoUnit.MICROS, where);
            case INT_OR_STRING -> intOrString(value, into, where);
            case RAW -> json(value, into, "raw", where);
            case FIELDS -> json(value, into, "Raw", where);
        }
    }

    private static JsonNode quantity(Message message) {
        String text = (String) message.getField(field(message, "string"));
        return TextNode.valueOf(text.isEmpty() ? "0" : text);
    }

    private static void quantity(JsonNode value, Message.Builder into, Where where) {
        if (!value.isTextual() && !value.isNumber() && !value.isNull()) {
            throw where.fault("must be a quantity, is " + value.getNodeType());
        }
        into.setField(field(into, "string"), value.isNull() ? "0" : value.asText());
    }

    private static JsonNode intOrString(Message message, Where where) {
        return switch (((Number) message.getField(field(message, "type"))).intValue()) {
            case 0 -> IntNode.valueOf((Integer) message.getField(field(message, "intVal")));
            case 1 -> TextNode.valueOf((String) message.getField(field(message, "strVal")));
            default -> throw where.fault("is neither an integer nor a string");
        };
    }

    private static void intOrString(JsonNode value, Message.Builder into, Where where) {
        boolean fits = value.isNull() || value.isTextual() || value.canConvertToInt();
        if (!fits || value.isFloatingPointNumber()) {
            throw where.fault("must be an integer or a string, is " + value.getNodeType());
        }
        into.setField(field(into, "type"), value.isTextual() ? 1L : 0L);
        into.setField(field(into, "intVal"), value.isTextual() ? 0 : value.asInt());
        into.setField(field(into, "strVal"), value.isTextual() ? value.asText() : "");
    }

    private static FieldDescriptor field(MessageOrBuilder message, String name) {
        return message.getDescriptorForType().findFieldByName(name);
    }

    private static JsonNode time(Message message, DateTimeFormatter format, Where where) {
        long seconds = (Long) message.getField(field(message, "seconds"));
        int nanos = (Integer) message.getField(field(message, "nanos"));
        if (seconds == 0 && nanos == 0) {
            return NullNode.getInstance();
        }
        try {
            Instant time = Instant.ofEpochSecond(seconds, nanos);
            if (time.isBefore(FIRST) || time.isAfter(LAST)) {
                throw where.fault("is a time that RFC 3339 cannot write: " + seconds + " s");
            }
            return TextNode.valueOf(format.format(time));
        } catch (DateTimeException | ArithmeticException e) {
            throw where.fault("is not a time: " + seconds + " s", e);
        }
    }

    private static void time(JsonNode value, Message.Builder into, ChronoUnit unit, Where where) {
        if (value.isNull()) {
            return;
        }
        if (!value.isTextual()) {
            throw where.fault("must be a time in RFC 3339, is " + value.getNodeType());
        }
        try {
            Instant time = OffsetDateTime.parse(value.asText()).toInstant().truncatedTo(unit);
            into.setField(field(into, "seconds"), time.getEpochSecond());
            into.setField(field(into, "nanos"), time.getNano());
        } catch (DateTimeException e) {
            throw where.fault("must be a time in RFC 3339, is \"" + value.asText() + '"', e);
        }
    }

    private static JsonNode json(Message message, String name, Where where) {
        ByteString bytes = (ByteString) message.getField(field(message, name));
        if (bytes.isEmpty()) {
            return NullNode.getInstance();
        }
        try {
            return JSON.readTree(bytes.toByteArray());
        } catch (JacksonException e) {
            throw where.fault("must be JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw where.fault("must be JSON: " + e.getMessage(), e);
        }
    }

    private static void json(JsonNode value, Message.Builder into, String name, Where where) {
        if (value.isNull()) {
            return;
        }
        try {
            into.setField(field(into, name), ByteString.copyFrom(JSON.writeValueAsBytes(value)));
        } catch (JacksonException e) {
            throw where.fault("cannot be written as JSON: " + e.getOriginalMessage(), e);
        }
    }
}
