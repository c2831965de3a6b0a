// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.kubernetes.client.proto.V1Resource;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The codec, with the recorded bytes of a real API server, objects of shapes that it did not record, and malformed
 * bytes, which result in an object or in the codec's exception.
 */
class KubernetesProtobufTest {

    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final int IDENTICAL = 390;
    private static final List<Recording> LINES = Recording.all();

    @Test
    void theRecordingIsWhole() {
        assertThat(LINES).hasSize(468);
        assertThat(LINES).filteredOn(line -> line.protobuf().length > 0).hasSize(422);
    }

    @Test
    void everyAnswerDecodesToItsJson() {
        for (Recording line : answers()) {
            assertThat(CODEC.decode(line.protobuf())).as("%s", line).isEqualTo(line.json());
        }
    }

    @Test
    void everyEventDecodesToItsJson() {
        for (Recording line : lines(Recording::isWatch)) {
            assertThat(Recording.frames(line.protobuf()).stream().<JsonNode>map(CODEC::decodeEvent))
                    .as("%s", line)
                    .containsExactlyElementsOf(line.json());
        }
    }

    @Test
    void everyAnswerSurvivesTheWayThere() {
        for (Recording line : answers()) {
            byte[] bytes = CODEC.encode(line.json());
            assertThat(CODEC.decode(bytes)).as("%s", line).isEqualTo(line.json());
        }
    }

    /** All but those with JSON in bytes that its writer spaced in its own way. */
    @Test
    void almostAllAnswersEncodeToTheSameBytes() {
        assertThat(answers())
                .filteredOn(line -> Arrays.equals(CODEC.encode(line.json()), line.protobuf()))
                .hasSize(IDENTICAL);
    }

    @Test
    void everyEventEncodesToTheSameBytes() {
        for (Recording line : lines(Recording::isWatch)) {
            List<byte[]> frames = Recording.frames(line.protobuf());
            for (int i = 0; i < frames.size(); i++) {
                JsonNode event = line.json().get(i);
                byte[] object = CODEC.encode(event.path("object"));
                byte[] frame = CODEC.frame(event.path("type").asText(), object);
                assertThat(Arrays.copyOfRange(frame, 4, frame.length))
                        .as("%s", line)
                        .isEqualTo(frames.get(i));
            }
        }
    }

    @Test
    void listsAreMadeOfMessages() {
        List<Recording> lists = lines(line -> line.what().equals("list"));
        assertThat(lists).hasSize(9);
        for (Recording line : lists) {
            String apiVersion = line.json().path("apiVersion").asText();
            String kind = line.json().path("kind").asText();
            List<byte[]> items = new ArrayList<>();
            for (JsonNode item : line.json().path("items")) {
                ObjectNode object = item.deepCopy();
                object.put("apiVersion", apiVersion).put("kind", kind.replaceAll("List$", ""));
                items.add(CODEC.message(object));
            }
            assertThat(CODEC.list(apiVersion, kind, line.json().path("metadata"), items))
                    .as("%s", line)
                    .isEqualTo(CODEC.encode(line.json()));
        }
    }

    private static List<Recording> answers() {
        return lines(line -> line.protobuf().length > 0 && !line.isWatch());
    }

    private static List<Recording> lines(Predicate<Recording> wanted) {
        return LINES.stream().filter(wanted).toList();
    }

    static List<JsonNode> objects() throws Exception {
        try (InputStream file = KubernetesProtobufTest.class.getResourceAsStream("objects-of-all-shapes.yaml")) {
            return JsonTrees.YAML.readerFor(JsonNode.class).<JsonNode>readValues(file).readAll().stream()
                    .map(object -> Recording.parse(object.toString()))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("objects")
    void jsonComesBack(JsonNode object) {
        ObjectNode read = CODEC.decode(CODEC.encode((ObjectNode) object));

        assertThat(isIn(object, read)).as("%s", read).isTrue();
        assertThat(CODEC.decode(CODEC.encode(read))).isEqualTo(read);
    }

    private static boolean isIn(JsonNode sent, JsonNode read) {
        if (sent.isObject()) {
            return sent.properties().stream().allMatch(one -> isIn(one.getValue(), read.path(one.getKey())));
        }
        return sent.isArray()
                ? sent.size() == read.size()
                        && IntStream.range(0, sent.size()).allMatch(i -> isIn(sent.get(i), read.path(i)))
                : sent.equals(read);
    }

    /** Two messages have only "items": one is a list in JSON, the other an object. */
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

    @Nested
    class ItsSchemas {

        private static final Schemas SCHEMAS = new Schemas();

        @Test
        void everyLineOfPresenceNamesFieldsOfAMessage() {
            assertThat(SCHEMAS.presence()).hasSizeGreaterThan(150);
            SCHEMAS.presence()
                    .forEach((name, fields) -> assertThat(
                                    message(name).orElseThrow().getFields())
                            .as(name)
                            .extracting(FieldDescriptor::getName)
                            .containsAll(fields.keySet()));
        }

        private static Optional<Descriptor> message(String name) {
            int dot = name.lastIndexOf('.');
            String home = name.startsWith("meta.") ? "k8s.io.apimachinery.pkg.apis." : "k8s.io.api.";
            return SCHEMAS.message(home + name.substring(0, dot), name.substring(dot + 1));
        }

        /** Ours adds fields of 1.37, and loses none of the library's. */
        @Test
        void resourceV1HasEveryFieldOfTheLibrary() {
            for (Descriptor official : V1Resource.getDescriptor().getMessageTypes()) {
                Optional<Descriptor> own = message("resource.v1." + official.getName());
                assertThat(own).as(official.getName()).isPresent();
                for (FieldDescriptor field : official.getFields()) {
                    assertThat(own.get().findFieldByName(field.getName()))
                            .as(field.getFullName())
                            .matches(found -> found.getNumber() == field.getNumber())
                            .matches(found -> found.getType() == field.getType())
                            .matches(found -> found.isRepeated() == field.isRepeated());
                }
            }
        }

        @Test
        void whatAllVersionsHaveIsFoundInEach() {
            assertThat(SCHEMAS.find("v1", "DeleteOptions")).isPresent();
            assertThat(SCHEMAS.find("resource.k8s.io/v1", "DeleteOptions")).isPresent();
            assertThat(SCHEMAS.find("apps/v1", "DaemonSet")).isPresent();
            assertThat(SCHEMAS.find("example.com/v1", "Thing")).isEmpty();
        }
    }

    @Nested
    @Tag("slow")
    @Timeout(120)
    class MalformedBytes {

        private static final int MUTANTS = 100_000;

        @Test
        void mutatedBytesEndInAnObjectOrARefusal() {
            MutatedBytes mutated = new MutatedBytes(
                    27, MutatedBytes.recorded().map(Recording::protobuf).toList());
            int refused = 0;

            for (int i = 0; i < MUTANTS; i++) {
                byte[] bytes = mutated.next();
                try {
                    assertThat(CODEC.decode(bytes).path("kind").asText()).isNotEmpty();
                } catch (ProtobufFormatException e) {
                    assertThat(e.getMessage()).isNotBlank();
                    refused++;
                }
            }

            assertThat(refused).isBetween(MUTANTS / 10, MUTANTS - MUTANTS / 10);
        }

        @Test
        void deepNestingIsRefused() throws IOException {
            byte[] groups = new byte[1_000_000];
            Arrays.fill(groups, (byte) 0x0b); // Starts a group in a group.

            assertThatThrownBy(() -> CODEC.decode(slice(groups))).isInstanceOf(ProtobufFormatException.class);
        }

        @Test
        void deepJsonInBytesIsRefused() {
            ByteString deep = ByteString.copyFromUtf8("[".repeat(1_000_000));

            assertThatThrownBy(() -> CODEC.decode(claimWithParameters(deep)))
                    .isInstanceOf(ProtobufFormatException.class)
                    .hasMessageContaining("opaque.parameters must be JSON");
        }

        @Test
        void aLengthBeyondTheBytesIsRefused() {
            byte[] huge = {0x12, -1, -1, -1, -1, 0x07};

            assertThatThrownBy(() -> CODEC.decode(slice(huge)))
                    .isInstanceOf(ProtobufFormatException.class)
                    .hasMessage("unexpected EOF");
        }

        @Test
        void aFieldThatIsNotKnownIsNamed() throws IOException {
            byte[] spec = field(99, field(1, new byte[] {'x'}));

            assertThatThrownBy(() -> CODEC.decode(slice(field(2, spec))))
                    .isInstanceOf(ProtobufFormatException.class)
                    .hasMessage("spec has a field that is not known here, with number 99 in ResourceSliceSpec");
        }

        @Test
        void anUnknownJsonFieldIsNamed() {
            ObjectNode slice = CODEC.decode(slice(new byte[0]));
            slice.withObject("/spec").put("newField", 1);

            assertThatThrownBy(() -> CODEC.encode(slice))
                    .isInstanceOf(ProtobufFormatException.class)
                    .hasMessage("spec.newField is not in the protobuf schema: ResourceSliceSpec has no such field");
        }

        private static byte[] slice(byte[] message) {
            return CODEC.envelope("resource.k8s.io/v1", "ResourceSlice", message);
        }

        /** A class with a configuration, whose parameters are any bytes. */
        private static byte[] claimWithParameters(ByteString parameters) throws IOException {
            byte[] raw = field(1, parameters.toByteArray());
            byte[] opaque = field(2, raw);
            byte[] configuration = field(1, field(1, opaque));
            return CODEC.envelope("resource.k8s.io/v1", "DeviceClass", field(2, field(2, configuration)));
        }

        private static byte[] field(int number, byte[] content) throws IOException {
            ByteString.Output bytes = ByteString.newOutput();
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            out.writeByteArray(number, content);
            out.flush();
            return bytes.toByteString().toByteArray();
        }
    }
}
