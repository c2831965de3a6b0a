// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The API server in protobuf alone, as typed clients in Go speak it: all that is sent and all that
 * is accepted, but for patches, which Kubernetes takes in JSON and YAML alone.
 */
class ProtobufClient extends ApiClient {

    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    @Override
    String accept() {
        return KubernetesProtobuf.MEDIA_TYPE;
    }

    @Override
    JsonNode post(String path, JsonNode body) {
        return write("POST", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(body));
    }

    @Override
    JsonNode put(String path, JsonNode body) {
        return write("PUT", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(body));
    }

    @Override
    JsonNode delete(String path) {
        ObjectNode options = Json.object().put("apiVersion", "v1").put("kind", "DeleteOptions");
        return write("DELETE", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(options));
    }

    /** Anything else is no answer of an API server to this client. */
    @Override
    JsonNode tree(byte[] body) {
        try {
            ObjectNode object = CODEC.decode(body);
            object.path("items").forEach(item -> named((ObjectNode) item, object));
            return object;
        } catch (ProtobufFormatException e) {
            return Json.object().put("message", "The answer is no protobuf: " + e.getMessage());
        }
    }

    /** The kind of the items, by that of the list. */
    private static void named(ObjectNode item, ObjectNode list) {
        item.put("apiVersion", list.path("apiVersion").asText());
        item.put("kind", list.path("kind").asText().replaceFirst("List$", ""));
    }

    @Override
    InputStream open(String path) throws IOException, InterruptedException {
        return new Lines(super.open(path));
    }

    /** The events of a watch, a line each. */
    private static final class Lines extends InputStream {
        private final DataInputStream frames;
        private ByteArrayInputStream line = new ByteArrayInputStream(new byte[0]);

        Lines(InputStream frames) {
            this.frames = new DataInputStream(frames);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            if (line.available() == 0 && !next()) {
                return -1;
            }
            return line.read(into, offset, length);
        }

        private boolean next() throws IOException {
            try {
                byte[] frame = new byte[frames.readInt()];
                frames.readFully(frame);
                String text = CODEC.decodeEvent(frame) + "\n";
                line = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
                return true;
            } catch (EOFException e) {
                return false;
            } catch (ProtobufFormatException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            frames.close();
        }
    }
}
