// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;

/**
 * One connection, kept alive, with requests byte for byte as Go's net/http writes those of a driver
 * with client-go.
 */
final class GoConnection implements AutoCloseable {

    static final String JSON = "application/json, */*";
    static final String PROTOBUF = "application/vnd.kubernetes.protobuf";

    private final Socket socket;
    private final InputStream in;
    private final String host;
    private boolean insideBody;
    private final Queue<String> events = new ArrayDeque<>();
    private String begunEvent = "";
    private boolean watchEnded;

    GoConnection(URI server) {
        host = server.getAuthority();
        try {
            socket = new Socket(server.getHost(), server.getPort());
            socket.setSoTimeout(20_000);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException("No connection to " + server, e);
        }
    }

    Answer get(String path) throws IOException {
        request("GET", path, "Accept: " + JSON, "");
        return answer();
    }

    /** A request with a body in JSON. */
    Answer send(String method, String path, String body) throws IOException {
        return send(method, path, "application/json", body);
    }

    Answer send(String method, String path, String type, String body) throws IOException {
        request(method, path, "Accept: " + JSON + "\r\nContent-Type: " + type, body);
        return answer();
    }

    /** As a Go client with ExpectContinueTimeout: the body only after the server wants it. */
    Answer sendExpecting(String path, String body) throws IOException {
        int length = body.getBytes(StandardCharsets.UTF_8).length;
        write(head("POST", path, "Expect: 100-continue\r\nContent-Type: application/json", length));
        assertThat(line()).isEqualTo("HTTP/1.1 100 Continue");
        assertThat(line()).isEmpty();
        write(body);
        return answer();
    }

    /** Opens a watch; its events come from {@link #event}. */
    Answer watch(String path) throws IOException {
        request("GET", path, "Accept: " + JSON, "");
        Answer begun = new Answer(status(line()), headers(), new byte[0]);
        String length = begun.headers().get("content-length");
        if (length != null) { // Ended when it began.
            take(in.readNBytes(Integer.parseInt(length)));
            watchEnded = true;
        }
        return begun;
    }

    /** The next event of the watch; empty at its end. */
    JsonNode event() throws IOException {
        while (events.isEmpty() && !watchEnded) {
            byte[] chunk = chunk();
            take(chunk);
            watchEnded = chunk.length == 0;
        }
        return events.isEmpty() ? Json.object() : Json.parse(events.remove());
    }

    private void take(byte[] bytes) {
        begunEvent += new String(bytes, StandardCharsets.UTF_8);
        int end = begunEvent.lastIndexOf('\n') + 1;
        begunEvent.substring(0, end).lines().forEach(events::add);
        begunEvent = begunEvent.substring(end);
    }

    private void request(String method, String path, String headers, String body) throws IOException {
        int length = body.getBytes(StandardCharsets.UTF_8).length;
        write(head(method, path, headers, length) + body);
    }

    private String head(String method, String path, String headers, int length) {
        String lengthHeader = length > 0 ? "Content-Length: " + length + "\r\n" : "";
        return "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: gpu-plugin/v0.0.0 (linux/amd64) kubernetes/$Format\r\n%s%s\r\nAccept-Encoding: gzip\r\n\r\n"
                .formatted(method, path, host, lengthHeader, headers);
    }

    private void write(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private Answer answer() throws IOException {
        int status = status(line());
        Map<String, String> headers = headers();
        assertThat(headers).doesNotContainKey("content-encoding");
        String length = headers.get("content-length");
        if (length != null) {
            return new Answer(status, headers, in.readNBytes(Integer.parseInt(length)));
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] chunk = chunk(); chunk.length > 0; chunk = chunk()) {
            body.writeBytes(chunk);
        }
        return new Answer(status, headers, body.toByteArray());
    }

    private static int status(String line) {
        assertThat(line).startsWith("HTTP/1.1 ");
        return Integer.parseInt(line.substring(9, 12));
    }

    private Map<String, String> headers() throws IOException {
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return headers;
    }

    /** The line break after a chunk is read when it has come, which may be with the next chunk. */
    private byte[] chunk() throws IOException {
        if (insideBody) {
            assertThat(line()).isEmpty();
        }
        byte[] chunk = in.readNBytes(Integer.parseInt(line(), 16));
        insideBody = chunk.length > 0;
        if (!insideBody) {
            assertThat(line()).isEmpty();
        }
        return chunk;
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            assertThat(next).as("the connection is open").isNotNegative();
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
