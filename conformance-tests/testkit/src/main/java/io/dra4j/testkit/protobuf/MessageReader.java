// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.dra4j.testkit.protobuf.MessageType.Field;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** Shows messages as JSON. */
record MessageReader(Schemas schemas) {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** Adds a message's fields to an object. */
    void fields(Message message, ObjectNode into, Where where) {
        requireKnown(message, where);
        for (Field field : schemas.type(message.getDescriptorForType()).fields()) {
            if (field.presence() == FieldPresence.INLINE) {
                fields((Message) message.getField(field.descriptor()), into, where);
            } else if (field.descriptor().isRepeated()) {
                repeated(message, field, into, where.field(field.name()));
            } else {
                single(message, field, into, where.field(field.name()));
            }
        }
    }

    private static void requireKnown(Message message, Where where) {
        Map<Integer, ?> unknown = message.getUnknownFields().asMap();
        if (!unknown.isEmpty()) {
            String fault = "has a field that is not known here, with number %s in %s";
            String type = message.getDescriptorForType().getName();
            throw where.fault(fault.formatted(unknown.keySet().iterator().next(), type));
        }
    }

    private void single(Message message, Field field, ObjectNode into, Where where) {
        FieldDescriptor descriptor = field.descriptor();
        boolean set = message.hasField(descriptor);
        switch (field.presence()) {
            case KEPT -> into.set(field.name(), value(message.getField(descriptor), where));
            case POINTER, NULLABLE -> {
                if (set) {
                    into.set(field.name(), value(message.getField(descriptor), where));
                } else if (field.presence() == FieldPresence.NULLABLE) {
                    into.putNull(field.name());
                }
            }
            default -> {
                JsonNode value = set ? value(message.getField(descriptor), where) : NODES.nullNode();
                if (!isEmpty(value)) {
                    into.set(field.name(), value);
                }
            }
        }
    }

    private static boolean isEmpty(JsonNode value) {
        return switch (value.getNodeType()) {
            case NULL -> true;
            case STRING -> value.asText().isEmpty();
            case NUMBER -> value.asDouble() == 0;
            case BOOLEAN -> !value.asBoolean();
            default -> value.isEmpty();
        };
    }

    private void repeated(Message message, Field field, ObjectNode into, Where where) {
        List<?> values = (List<?>) message.getField(field.descriptor());
        if (values.isEmpty()) {
            if (field.presence() == FieldPresence.KEPT) {
                into.putNull(field.name());
            } else if (isListOfObjects(field)) {
                into.putArray(field.name());
            }
        } else if (field.descriptor().isMapField()) {
            into.set(field.name(), map(values, where));
        } else {
            into.set(field.name(), array(values, where));
        }
    }

    /** Returns whether it is the list of a list object, which is shown when empty. */
    private static boolean isListOfObjects(Field field) {
        FieldDescriptor metadata = field.descriptor().getContainingType().findFieldByName("metadata");
        return field.name().equals("items")
                && metadata != null
                && metadata.getMessageType().getName().equals("ListMeta");
    }

    private ArrayNode array(List<?> values, Where where) {
        ArrayNode array = NODES.arrayNode(values.size());
        for (Object value : values) {
            array.add(value(value, where.element(array.size())));
        }
        return array;
    }

    private ObjectNode map(List<?> entries, Where where) {
        ObjectNode map = NODES.objectNode();
        for (Object element : entries) {
            Message entry = (Message) element;
            requireKnown(entry, where);
            List<FieldDescriptor> pair = entry.getDescriptorForType().getFields();
            String key = (String) entry.getField(pair.get(0));
            map.set(key, value(entry.getField(pair.get(1)), where.key(key)));
        }
        return map;
    }

    private JsonNode value(Object value, Where where) {
        if (value instanceof Message message) {
            return message(message, where);
        } else if (value instanceof String text) {
            return TextNode.valueOf(text);
        } else if (value instanceof Integer number) {
            return IntNode.valueOf(number);
        } else if (value instanceof Long number) {
            boolean small = number == number.intValue();
            return small ? IntNode.valueOf(number.intValue()) : LongNode.valueOf(number);
        } else if (value instanceof Boolean flag) {
            return BooleanNode.valueOf(flag);
        } else if (value instanceof Double number) {
            return DoubleNode.valueOf(number);
        } else if (value instanceof ByteString bytes) {
            return TextNode.valueOf(Base64.getEncoder().encodeToString(bytes.toByteArray()));
        }
        throw where.fault(
                "has a type without a form in JSON: " + value.getClass().getSimpleName());
    }

    private JsonNode message(Message message, Where where) {
        MessageType type = schemas.type(message.getDescriptorForType());
        Shape shape = Shape.of(type);
        if (shape != null) {
            requireKnown(message, where);
            return shape.read(message, where);
        }
        if (type.isList()) {
            requireKnown(message, where);
            return array((List<?>) message.getField(type.fields().get(0).descriptor()), where);
        }
        ObjectNode object = NODES.objectNode();
        fields(message, object, where);
        return object;
    }
}
