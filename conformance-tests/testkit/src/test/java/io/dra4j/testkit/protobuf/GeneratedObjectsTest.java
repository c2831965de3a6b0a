// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.dra4j.testkit.protobuf.MessageType.Field;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any object survives the way into bytes and back. */
@Tag("slow")
class GeneratedObjectsTest {
    private static final int OBJECTS = Boolean.getBoolean("dra4j.full") ? 10_000 : 400;
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final Schemas SCHEMAS = new Schemas();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "v1 Namespace,Node,Pod,Event,DeleteOptions,CreateOptions,UpdateOptions,Status",
                "meta.k8s.io/v1 PartialObjectMetadata",
                "coordination.k8s.io/v1 Lease",
                "events.k8s.io/v1 Event",
                "resource.k8s.io/v1 DeviceClass,DeviceTaintRule,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1beta1 DeviceClass,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1beta2 DeviceClass,DeviceTaintRule,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1alpha3 DeviceTaintRule"
            })
    void jsonToProtobufToJsonIsTheIdentity(String versionAndKinds) {
        String version = versionAndKinds.split(" ")[0];
        for (String kind : versionAndKinds.split(" ")[1].split(",")) {
            String versionAndKind = version + " " + kind;
            ObjectGenerator generator = new ObjectGenerator(SCHEMAS, versionAndKind.hashCode());
            for (int i = 0; i < OBJECTS; i++) {
                ObjectNode object = generator.object(version, kind);

                ObjectNode read = CODEC.decode(CODEC.encode(object));

                assertThat(read).as("%s %s", versionAndKind, i).isEqualTo(object);
            }
        }
    }

    /** The generator reaches what it is to test: fields of all depths. */
    @Test
    void theGeneratorSetsEveryFieldOfASlice() {
        ObjectGenerator generator = new ObjectGenerator(SCHEMAS, 1);
        Set<String> seen = new HashSet<>();

        for (int i = 0; i < 2_000; i++) {
            ObjectNode slice = generator.object("resource.k8s.io/v1", "ResourceSlice");
            slice.path("spec").fieldNames().forEachRemaining(seen::add);
            slice.findValues("devices")
                    .forEach(d -> d.forEach(x -> x.fieldNames().forEachRemaining(seen::add)));
        }

        for (String message : List.of("ResourceSliceSpec", "Device")) {
            var type = SCHEMAS.message("k8s.io.api.resource.v1", message).orElseThrow();
            assertThat(seen).containsAll(SCHEMAS.type(type).names());
        }
    }

    /** Two messages have "items" alone: one is a list in JSON, the other an object. */
    @Test
    void aMessageOfItemsIsAListOnlyWhereGoHasOne() {
        JsonNode volumes = Recording.parse("""
                        [{"name": "v", "projected": {"sources": [
                          {"downwardAPI": {"items": [{"path": "p"}]}}]}}]""");
        ObjectNode pod = CODEC.decode(CODEC.envelope("v1", "Pod", new byte[0]));
        pod.withObject("/spec").set("volumes", volumes);
        JsonNode resources = Recording.parse("""
                        {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1",
                         "resources": [{"name": "pods", "kind": "Pod", "verbs": ["get"]}]}""");

        assertThat(CODEC.decode(CODEC.encode(pod))).isEqualTo(pod);
        assertThat(CODEC.decode(CODEC.encode(resources))).isEqualTo(resources);
    }

    /** Objects of any kind, as a Go server would write them in JSON; the same seed gives the same. */
    private static final class ObjectGenerator {
        private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
        private static final List<String> TEXTS =
                List.of("a gpu.example.com/model länge \u4e2d\u6587 \ud83d\ude80 x\ny\u0000".split(" "));
        private static final List<String> QUANTITIES = List.of("0", "1", "10Gi", "1500m", "1e3", "-5");
        private static final List<String> DOCUMENTS =
                List.of("{}", "{\"a\":[1,2.5,{\"b\":null}]}", "[]", "\"text\"", "7", "false");

        private final Schemas schemas;
        private final Random random;

        ObjectGenerator(Schemas schemas, long seed) {
            this.schemas = schemas;
            this.random = new Random(seed);
        }

        ObjectNode object(String apiVersion, String kind) {
            ObjectNode object = NODES.objectNode().put("apiVersion", apiVersion).put("kind", kind);
            fields(schemas.find(apiVersion, kind).orElseThrow(), object, 0);
            return object;
        }

        private void fields(Descriptor message, ObjectNode object, int depth) {
            for (Field field : schemas.type(message).fields()) {
                if (field.presence() == Presence.INLINE) {
                    fields(field.descriptor().getMessageType(), object, depth);
                } else if (field.descriptor().isRepeated()) {
                    repeated(field, object, depth);
                } else {
                    single(field, object, depth);
                }
            }
        }

        /** Deep and wide messages would never end; about half of the fields are set at the top. */
        private boolean sets(int depth) {
            return random.nextInt(2 + depth * depth) == 0;
        }

        private void single(Field field, ObjectNode object, int depth) {
            boolean set = sets(depth);
            switch (field.presence()) {
                case KEPT -> object.set(field.name(), set ? value(field.descriptor(), depth) : zero(field, depth));
                case NULLABLE ->
                    object.set(field.name(), set ? value(field.descriptor(), depth) : NullNode.getInstance());
                default -> {
                    if (set) {
                        object.set(field.name(), value(field.descriptor(), depth));
                    }
                }
            }
            if (set && field.presence() == Presence.POINTER && !field.isMessage()) {
                object.set(field.name(), random.nextBoolean() ? object.get(field.name()) : zero(field, depth));
            }
        }

        private JsonNode zero(Field field, int depth) {
            return switch (field.descriptor().getJavaType()) {
                case STRING -> TextNode.valueOf("");
                case INT, LONG -> IntNode.valueOf(0);
                case BOOLEAN -> BooleanNode.FALSE;
                default -> zeroMessage(schemas.type(field.descriptor().getMessageType()), depth);
            };
        }

        private JsonNode zeroMessage(MessageType type, int depth) {
            Shape shape = Shape.of(type);
            if (shape != null) {
                return switch (shape) {
                    case QUANTITY -> TextNode.valueOf("0");
                    case INT_OR_STRING -> IntNode.valueOf(0);
                    default -> NullNode.getInstance();
                };
            }
            ObjectNode object = NODES.objectNode();
            fields(type.descriptor(), object, depth + 1);
            return object;
        }

        private void repeated(Field field, ObjectNode object, int depth) {
            if (!sets(depth)) {
                if (field.presence() == Presence.KEPT) {
                    object.putNull(field.name());
                }
                return;
            }
            int count = 1 + random.nextInt(2);
            if (field.descriptor().isMapField()) {
                ObjectNode map = object.putObject(field.name());
                FieldDescriptor values =
                        field.descriptor().getMessageType().getFields().get(1);
                for (int i = 0; i < count; i++) {
                    map.set(text() + i, value(values, depth + 1));
                }
            } else {
                ArrayNode list = object.putArray(field.name());
                for (int i = 0; i < count; i++) {
                    list.add(value(field.descriptor(), depth + 1));
                }
            }
        }

        private JsonNode value(FieldDescriptor field, int depth) {
            return switch (field.getJavaType()) {
                case STRING -> TextNode.valueOf(text());
                case INT -> IntNode.valueOf(1 + random.nextInt(Integer.MAX_VALUE));
                case LONG -> random.nextBoolean() ? IntNode.valueOf(-7) : LongNode.valueOf(Long.MAX_VALUE);
                case BOOLEAN -> BooleanNode.TRUE;
                case BYTE_STRING -> TextNode.valueOf(Base64.getEncoder().encodeToString(new byte[] {-1, 0}));
                default -> message(schemas.type(field.getMessageType()), depth);
            };
        }

        private JsonNode message(MessageType type, int depth) {
            Shape shape = Shape.of(type);
            if (shape == null) {
                ObjectNode object = NODES.objectNode();
                fields(type.descriptor(), object, depth + 1);
                return object;
            }
            return switch (shape) {
                case QUANTITY -> TextNode.valueOf(any(QUANTITIES));
                case TIME ->
                    TextNode.valueOf(Instant.ofEpochSecond(1 + random.nextInt()).toString());
                case MICRO_TIME -> TextNode.valueOf(microTime());
                case INT_OR_STRING -> random.nextBoolean() ? IntNode.valueOf(80) : TextNode.valueOf(text());
                case RAW, FIELDS -> document();
            };
        }

        private String microTime() {
            return String.format("2026-11-22T23:24:%02d.%06dZ", random.nextInt(60), random.nextInt(1_000_000));
        }

        private JsonNode document() {
            return Recording.parse(any(DOCUMENTS));
        }

        private String text() {
            return any(TEXTS);
        }

        private String any(List<String> choices) {
            return choices.get(random.nextInt(choices.size()));
        }
    }
}
