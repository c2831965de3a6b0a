// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Runtime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The codec of {@code application/vnd.kubernetes.protobuf}: objects between bytes and the JSON tree
 * that an API server writes for them.
 *
 * <p>An object is an envelope, which has apiVersion and kind, around a message. Unknown fields are refused in both
 * directions, never dropped. Immutable; any thread may use it.
 */
public final class KubernetesProtobuf {
    /** The media type of objects. */
    public static final String MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

    /** The media type of watches: frames of {@link #frame}. */
    public static final String WATCH_TYPE = MEDIA_TYPE + ";stream=watch";

    private static final byte[] MAGIC = {'k', '8', 's', 0};
    private static final int LENGTH_BYTES = 4;

    private final Schemas schemas = new Schemas();
    private final MessageReader reader = new MessageReader(schemas);
    private final MessageWriter writer = new MessageWriter(schemas);

    /** Returns whether a Content-Type names this format, with any parameters. */
    public static boolean isProtobuf(@Nullable String contentType) {
        return contentType != null
                && contentType.split(";", 2)[0].trim().toLowerCase(Locale.ROOT).equals(MEDIA_TYPE);
    }

    /**
     * The envelope of an object that has an apiVersion and a kind.
     *
     * @throws ProtobufFormatException when the schema lacks a field of the object
     */
    public byte[] encode(JsonNode object) {
        String kind = object.path("kind").asText();
        return envelope(object.path("apiVersion").asText(), kind, message(object));
    }

    /**
     * The message of an object without its envelope, as in the items of a list.
     *
     * @throws ProtobufFormatException when the schema lacks a field of the object
     */
    public byte[] message(JsonNode object) {
        String apiVersion = object.path("apiVersion").asText();
        String kind = object.path("kind").asText();
        JsonNode written = kind.endsWith("List") ? plainItems(object, apiVersion, kind) : object;
        Descriptor descriptor = descriptor(apiVersion, kind);
        return writer.object(descriptor, written, Set.of("apiVersion", "kind"), Where.top())
                .toByteArray();
    }

    /** Puts a message into its envelope. */
    public byte[] envelope(String apiVersion, String kind, byte[] message) {
        byte[] unknown = Envelope.write(apiVersion, kind, message);
        return ByteBuffer.allocate(MAGIC.length + unknown.length)
                .put(MAGIC)
                .put(unknown)
                .array();
    }

    /**
     * The envelope of a list of messages.
     *
     * @param metadata the metadata of the list
     * @param items messages as {@link #message} makes them
     */
    public byte[] list(String apiVersion, String kind, JsonNode metadata, Iterable<byte[]> items) {
        ObjectNode empty = JsonNodeFactory.instance.objectNode();
        empty.put("apiVersion", apiVersion).put("kind", kind).set("metadata", metadata);
        ByteString.Output list = ByteString.newOutput();
        try {
            list.write(message(empty));
            CodedOutputStream out = CodedOutputStream.newInstance(list);
            int number = descriptor(apiVersion, kind).findFieldByName("items").getNumber();
            for (byte[] item : items) {
                out.writeByteArray(number, item);
            }
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // A buffer in memory takes all bytes.
        }
        return envelope(apiVersion, kind, list.toByteString().toByteArray());
    }

    /**
     * One event of a watch, with its length before it.
     *
     * @param object the envelope of the event's object
     */
    public byte[] frame(String type, byte[] object) {
        byte[] event = Envelope.writeEvent(type, object);
        return ByteBuffer.allocate(LENGTH_BYTES + event.length)
                .putInt(event.length)
                .put(event)
                .array();
    }

    /**
     * The object in an envelope.
     *
     * @throws ProtobufFormatException for invalid bytes, and for a kind or a field that is not known here
     */
    public ObjectNode decode(byte[] bytes) {
        return decode(bytes, "", "");
    }

    /**
     * Like {@link #decode(byte[])}, for an envelope that may omit apiVersion and kind.
     *
     * @param apiVersion the apiVersion of the object if the envelope has none
     * @param kind the kind of the object if the envelope has none
     */
    public ObjectNode decode(byte[] bytes, String apiVersion, String kind) {
        Envelope envelope = open(bytes);
        String version = envelope.apiVersion().isEmpty() ? apiVersion : envelope.apiVersion();
        String name = envelope.kind().isEmpty() ? kind : envelope.kind();
        Descriptor descriptor = descriptor(version, name);
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        object.put("kind", name).put("apiVersion", version);
        try {
            Message message = DynamicMessage.parseFrom(descriptor, envelope.message());
            reader.fields(message, object, Where.top());
        } catch (InvalidProtocolBufferException e) {
            throw broken(e, true);
        }
        return object;
    }

    /**
     * The event in a frame, without the length before it: {@code type}, and {@code object} in its JSON form.
     *
     * @throws ProtobufFormatException for bytes that are not an event
     */
    public ObjectNode decodeEvent(byte[] event) {
        try {
            Envelope read = Envelope.readEvent(event);
            ObjectNode json = JsonNodeFactory.instance.objectNode().put("type", read.kind());
            json.set("object", decode(read.message().toByteArray()));
            return json;
        } catch (InvalidProtocolBufferException e) {
            throw broken(e, false);
        }
    }

    private static Envelope open(byte[] bytes) {
        if (bytes.length == 0) {
            throw new ProtobufFormatException("empty data");
        }
        int prefix = Math.min(bytes.length, MAGIC.length);
        if (!Arrays.equals(bytes, 0, prefix, MAGIC, 0, MAGIC.length)) {
            throw new ProtobufFormatException("provided data does not appear to be a protobuf message, expected prefix "
                    + Arrays.toString(MAGIC).replace(",", ""));
        }
        if (bytes.length == MAGIC.length) {
            throw new ProtobufFormatException("empty body");
        }
        try {
            return Envelope.read(ByteString.copyFrom(bytes, prefix, bytes.length - prefix));
        } catch (InvalidProtocolBufferException e) {
            throw broken(e, false);
        }
    }

    private static ProtobufFormatException broken(InvalidProtocolBufferException e, boolean kindIsKnown) {
        String message = String.valueOf(e.getMessage());
        // A length beyond the end of the bytes gives one message or the other, depending on how far it goes.
        boolean truncated = message.contains("ended unexpectedly") || message.contains("too large");
        return new ProtobufFormatException(truncated ? "unexpected EOF" : message, kindIsKnown, e);
    }

    private Descriptor descriptor(String apiVersion, String kind) {
        String unknown = "no kind \"" + kind + "\" is known in version \"" + apiVersion + "\"";
        return schemas.find(apiVersion, kind).orElseThrow(() -> new ProtobufFormatException(unknown + " in protobuf"));
    }

    /** A list whose items omit apiVersion and kind. */
    private static JsonNode plainItems(JsonNode list, String apiVersion, String kind) {
        if (!list.path("items").isArray()) {
            return list;
        }
        ObjectNode plain = JsonNodeFactory.instance.objectNode();
        plain.setAll((ObjectNode) list);
        String itemKind = kind.substring(0, kind.length() - "List".length());
        var items = plain.putArray("items");
        for (JsonNode item : list.path("items")) {
            boolean repeats = item.isObject()
                    && item.path("apiVersion").asText(apiVersion).equals(apiVersion)
                    && item.path("kind").asText(itemKind).equals(itemKind);
            items.add(repeats ? ((ObjectNode) item.deepCopy()).without(Set.of("apiVersion", "kind")) : item);
        }
        return plain;
    }

    /**
     * The envelope of a message: apiVersion and kind of an object, or the type of an event.
     *
     * <p>Also read by descriptors, because the library's classes were generated by a release of protoc that the current
     * runtime warns about.
     *
     * @param kind the kind of an object, or the type of an event
     */
    private record Envelope(String apiVersion, String kind, ByteString message) {
        private static final Descriptor UNKNOWN = Runtime.getDescriptor().findMessageTypeByName("Unknown");
        private static final Descriptor EVENT = Meta.getDescriptor().findMessageTypeByName("WatchEvent");

        static byte[] write(String apiVersion, String kind, byte[] message) {
            Message.Builder type =
                    DynamicMessage.newBuilder(field(UNKNOWN, "typeMeta").getMessageType());
            set(type, "apiVersion", apiVersion);
            set(type, "kind", kind);
            Message.Builder unknown = DynamicMessage.newBuilder(UNKNOWN);
            set(unknown, "typeMeta", type.build());
            set(unknown, "raw", ByteString.copyFrom(message));
            set(unknown, "contentEncoding", "");
            set(unknown, "contentType", "");
            return unknown.build().toByteArray();
        }

        static Envelope read(ByteString bytes) throws InvalidProtocolBufferException {
            Message unknown = known(DynamicMessage.parseFrom(UNKNOWN, bytes));
            Message type = known((Message) get(unknown, "typeMeta"));
            return new Envelope(
                    (String) get(type, "apiVersion"), (String) get(type, "kind"), (ByteString) get(unknown, "raw"));
        }

        static byte[] writeEvent(String type, byte[] object) {
            Message.Builder raw =
                    DynamicMessage.newBuilder(field(EVENT, "object").getMessageType());
            set(raw, "raw", ByteString.copyFrom(object));
            Message.Builder event = DynamicMessage.newBuilder(EVENT);
            set(event, "type", type);
            set(event, "object", raw.build());
            return event.build().toByteArray();
        }

        static Envelope readEvent(byte[] bytes) throws InvalidProtocolBufferException {
            Message event = known(DynamicMessage.parseFrom(EVENT, bytes));
            Message object = known((Message) get(event, "object"));
            return new Envelope("", (String) get(event, "type"), (ByteString) get(object, "raw"));
        }

        private static Message known(Message message) {
            if (!message.getUnknownFields().asMap().isEmpty()) {
                throw new ProtobufFormatException("the envelope has a field that is not known here");
            }
            return message;
        }

        private static Object get(Message message, String name) {
            return message.getField(field(message.getDescriptorForType(), name));
        }

        private static void set(Message.Builder message, String name, Object value) {
            message.setField(field(message.getDescriptorForType(), name), value);
        }

        private static FieldDescriptor field(Descriptor message, String name) {
            return message.findFieldByName(name);
        }
    }
}
