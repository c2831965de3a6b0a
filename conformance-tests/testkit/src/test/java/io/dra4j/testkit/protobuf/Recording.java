// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * One line of what a real API server (1.36.2) answered in JSON and in protobuf.
 *
 * @param what object, list, error, watch and others
 * @param path of the request
 * @param json the response in JSON; a watch is a list of events
 * @param contentType of the response in protobuf, or empty
 * @param protobuf the response in protobuf, or empty
 * @param body that was sent in protobuf, empty when there was none
 */
public record Recording(
        String what, String path, int code, JsonNode json, String contentType, byte[] protobuf, byte[] body) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    /** All lines, in their order. */
    public static List<Recording> all() {
        String name = "apiserver-protobuf.jsonl.gz";
        try (var file = new GZIPInputStream(Recording.class.getResourceAsStream(name))) {
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().map(line -> of(parse(line))).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(name, e);
        }
    }

    private static Recording of(JsonNode line) {
        return new Recording(
                line.path("what").asText(),
                line.path("path").asText(),
                line.path("code").asInt(),
                line.path("json"),
                line.path("contentType").asText(),
                Base64.getDecoder().decode(line.path("protobuf").asText()),
                Base64.getDecoder().decode(line.path("body").asText()));
    }

    static JsonNode parse(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Cuts a watch in protobuf into its frames, without their lengths. */
    public static List<byte[]> frames(byte[] stream) {
        List<byte[]> frames = new ArrayList<>();
        ByteBuffer rest = ByteBuffer.wrap(stream);
        while (rest.hasRemaining()) {
            byte[] frame = new byte[rest.getInt()];
            rest.get(frame);
            frames.add(frame);
        }
        return frames;
    }

    public boolean isWatch() {
        return what.startsWith("watch");
    }

    @Override
    public String toString() {
        return what + " " + path;
    }
}
