// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.dra4j.testkit.protobuf.MessageType.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;

/** Makes messages from JSON. */
record MessageWriter(Schemas schemas) {
    /** Keys in the order in which Go sorts them. */
    private static final Comparator<Map.Entry<String, JsonNode>> BY_KEY =
            Comparator.comparing(entry -> entry.getKey().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private static final JsonNode EMPTY = JsonNodeFactory.instance.objectNode();

    /** The message of an object; the names aside are not fields of the message. */
    Message object(Descriptor descriptor, JsonNode object, Set<String> aside, Where where) {
        if (!object.isObject() && !object.isNull()) {
            throw where.fault("must be an object, is " + object.getNodeType());
        }
        MessageType type = schemas.type(descriptor);
        for (Map.Entry<String, JsonNode> field : object.properties()) {
            String name = field.getKey();
            if (!type.names().contains(name) && !aside.contains(name)) {
                String fault = "is not in the protobuf schema: %s has no such field";
                throw where.field(name).fault(fault.formatted(descriptor.getName()));
            }
        }
        return fields(type, object, where);
    }

    private Message fields(MessageType type, JsonNode object, Where where) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(type.descriptor());
        for (Field field : type.fields()) {
            FieldDescriptor descriptor = field.descriptor();
            if (field.presence() == FieldPresence.INLINE) {
                MessageType inline = schemas.type(descriptor.getMessageType());
                message.setField(descriptor, fields(inline, object, where));
                continue;
            }
            JsonNode value = object.path(field.name());
            Where inside = where.field(field.name());
            if (!value.isMissingNode() && !value.isNull()) {
                set(message, field, value, inside);
            } else if (field.presence().alwaysWritten() && !descriptor.isRepeated()) {
                message.setField(descriptor, zero(field, inside));
            }
        }
        return message.build();
    }

    private void set(Message.Builder message, Field field, JsonNode value, Where where) {
        FieldDescriptor descriptor = field.descriptor();
        if (descriptor.isMapField()) {
            map(message, descriptor, value, where);
        } else if (descriptor.isRepeated()) {
            elements(message, descriptor, value, where);
        } else {
            message.setField(descriptor, value(descriptor, value, where));
        }
    }

    private Object zero(Field field, Where where) {
        return field.isMessage()
                ? value(field.descriptor(), NullNode.getInstance(), where)
                : field.descriptor().getDefaultValue();
    }

    private void elements(Message.Builder message, FieldDescriptor field, JsonNode value, Where where) {
        if (!value.isArray()) {
            throw where.fault("must be a list, is " + value.getNodeType());
        }
        for (int i = 0; i < value.size(); i++) {
            message.addRepeatedField(field, value(field, value.get(i), where.element(i)));
        }
    }

    private void map(Message.Builder message, FieldDescriptor field, JsonNode value, Where where) {
        if (!value.isObject()) {
            throw where.fault("must be an object, is " + value.getNodeType());
        }
        FieldDescriptor key = field.getMessageType().getFields().get(0);
        FieldDescriptor content = field.getMessageType().getFields().get(1);
        for (var entry : value.properties().stream().sorted(BY_KEY).toList()) {
            Message.Builder pair = message.newBuilderForField(field).setField(key, entry.getKey());
            Where inside = where.key(entry.getKey());
            pair.setField(content, value(content, entry.getValue(), inside));
            message.addRepeatedField(field, pair.build());
        }
    }

    private Object value(FieldDescriptor field, JsonNode value, Where where) {
        boolean integral = value.isIntegralNumber();
        return switch (field.getJavaType()) {
            case MESSAGE -> message(field.getMessageType(), value, where);
            case STRING -> require(value.isTextual(), value, where, "a string").asText();
            case INT ->
                require(integral && value.canConvertToInt(), value, where, "an int32")
                        .asInt();
            case LONG ->
                require(integral && value.canConvertToLong(), value, where, "an int64")
                        .asLong();
            case BOOLEAN ->
                require(value.isBoolean(), value, where, "a boolean").asBoolean();
            case DOUBLE -> require(value.isNumber(), value, where, "a number").asDouble();
            case BYTE_STRING -> bytes(value, where);
            default -> throw where.fault("has a type without a form in JSON: " + field.getType());
        };
    }

    private static ByteString bytes(JsonNode value, Where where) {
        require(value.isTextual(), value, where, "bytes in base64");
        try {
            return ByteString.copyFrom(Base64.getDecoder().decode(value.asText()));
        } catch (IllegalArgumentException e) {
            throw where.fault("must be bytes in base64: " + e.getMessage(), e);
        }
    }

    private static JsonNode require(boolean fits, JsonNode value, Where where, String expected) {
        if (!fits) {
            throw where.fault("must be " + expected + ", is " + value.getNodeType());
        }
        return value;
    }

    private Message message(Descriptor descriptor, JsonNode value, Where where) {
        MessageType type = schemas.type(descriptor);
        Shape shape = Shape.of(type);
        DynamicMessage.Builder message = DynamicMessage.newBuilder(descriptor);
        if (shape != null) {
            shape.write(value, message, where);
            return message.build();
        }
        if (type.isList() && !value.isNull()) {
            elements(message, type.fields().get(0).descriptor(), value, where);
            return message.build();
        }
        return object(descriptor, value.isNull() ? EMPTY : value, Set.of(), where);
    }
}
