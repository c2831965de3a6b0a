// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The codec, with the recorded bytes of a real API server. */
class RecordedProtobufTest {
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
            WatchFrames frames = new WatchFrames(CODEC);
            List<JsonNode> events = new ArrayList<>();
            for (byte one : line.protobuf()) {
                events.addAll(frames.add(new byte[] {one}));
            }
            assertThat(events).as("%s", line).containsExactlyElementsOf(line.json());
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
            List<byte[]> frames = frames(line.protobuf());
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

    private static List<byte[]> frames(byte[] stream) {
        List<byte[]> frames = new ArrayList<>();
        ByteBuffer rest = ByteBuffer.wrap(stream);
        while (rest.hasRemaining()) {
            byte[] frame = new byte[rest.getInt()];
            rest.get(frame);
            frames.add(frame);
        }
        return frames;
    }
}
