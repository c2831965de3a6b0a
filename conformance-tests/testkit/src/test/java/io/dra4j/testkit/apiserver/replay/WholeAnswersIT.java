// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.InMemoryApiServer;
import io.dra4j.testkit.apiserver.http.InMemoryApi;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sequences of requests, each to a new server, and the whole answer to each: directly, through the proxy, in memory.
 *
 * <p>The line before a sequence says its name and how its server is started. An object after {@code put} is in the
 * cluster before the next request, and {@code clock} is the time of the server from there on. {@code {uid1}} is the
 * first uid that an answer of the sequence has. {@code -Dreference.update=true} writes down how this server answers.
 * {@code releases-1.38.jsonl} has each difference of 1.38, by the pull request that made it, with the answers of 1.37.
 */
@Timeout(60)
class WholeAnswersIT {
    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/testkit/apiserver/replay");
    private static final List<Path> FILES =
            List.of(FOLDER.resolve("whole-answers.jsonl"), FOLDER.resolve("releases-1.38.jsonl"));
    private static final boolean UPDATE = Boolean.getBoolean("reference.update");
    private static final Map<Path, Map<String, List<ObjectNode>>> BY_FILE = new LinkedHashMap<>();
    private static final Map<String, List<ObjectNode>> SEQUENCES = new LinkedHashMap<>();
    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Map<String, String> uids = new LinkedHashMap<>();
    private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

    static {
        FILES.forEach(file -> BY_FILE.put(file, read(file)));
        BY_FILE.values().forEach(SEQUENCES::putAll);
    }

    private static Map<String, List<ObjectNode>> read(Path file) {
        Map<String, List<ObjectNode>> sequences = new LinkedHashMap<>();
        List<ObjectNode> sequence = List.of();
        try {
            for (String text : Files.readAllLines(file)) {
                ObjectNode line = (ObjectNode) JsonTrees.parse(text);
                if (line.has("sequence")) {
                    sequence = new ArrayList<>();
                    sequences.put(line.path("sequence").asText(), sequence);
                }
                sequence.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sequences;
    }

    static Stream<Arguments> sequences() {
        return SEQUENCES.keySet().stream()
                .flatMap(name -> Stream.of(Way.values()).map(way -> Arguments.of(name, way)));
    }

    @AfterAll
    static void update() throws IOException {
        for (Path file : UPDATE ? FILES : List.<Path>of()) {
            Files.writeString(
                    file,
                    BY_FILE.getOrDefault(file, Map.of()).values().stream()
                            .flatMap(List::stream)
                            .map(line -> line + "\n")
                            .collect(Collectors.joining()));
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("sequences")
    void isAnsweredTheSame(String name, Way way) throws Exception {
        List<ObjectNode> lines = SEQUENCES.get(name);
        ask(way, server(lines.get(0)), (store, requests) -> compare(lines, store, requests));
    }

    @ParameterizedTest
    @EnumSource
    void longAnswersAreCompressedForClientsThatAcceptIt(Way way) throws Exception {
        ask(way, EmbeddedApiServer.builder(), (store, requests) -> {
            Received shorter = node(store, requests, 120 * 1024, "gzip, deflate");
            Received plain = node(store, requests, 128 * 1024, "deflate, identity");
            Received compressed = node(store, requests, 128 * 1024, "deflate, gzip");

            assertThat(List.of(shorter.headers().map(), plain.headers().map()))
                    .noneMatch(headers -> headers.containsKey("Content-Encoding"));
            assertThat(compressed.headers().firstValue("Content-Encoding")).contains("gzip");
            assertThat(compressed.headers().firstValue("Content-Length")).contains("" + compressed.body().length);
            assertThat(compressed.body().length).isLessThan(plain.body().length / 100);
            assertThat(new GZIPInputStream(new ByteArrayInputStream(compressed.body())))
                    .hasBinaryContent(plain.body());
        });
    }

    /** Puts a node with a long annotation, and gets it. */
    private static Received node(ClusterObjects store, Requests requests, int length, String encodings)
            throws Exception {
        store.put(JsonTrees.parse("""
                {"apiVersion": "v1", "kind": "Node",
                 "metadata": {"name": "n", "annotations": {"long": "%s"}}}
                """.formatted("a".repeat(length))));
        return requests.send("GET", "/api/v1/nodes/n", Map.of("Accept-Encoding", List.of(encodings)), new byte[0]);
    }

    /** Something that is asked of a new server, whose objects the host has. */
    private interface Questions {
        void ask(ClusterObjects store, Requests requests) throws Exception;
    }

    private static void ask(Way way, EmbeddedApiServer.Builder builder, Questions questions) throws Exception {
        if (way == Way.IN_MEMORY) {
            InMemory requests = new InMemory();
            InMemoryApiServer server = builder.inMemory((delay, task) -> requests.timers.put(delay, task));
            questions.ask(
                    server.store(),
                    (method, path, headers, body) -> requests.send(server, method, path, headers, body));
            return;
        }
        try (EmbeddedApiServer server = builder.start();
                ApiProxy proxy = ApiProxy.before(server.url())) {
            URI url = way == Way.PROXIED ? proxy.url() : server.url();
            questions.ask(server.store(), (method, path, headers, body) -> overHttp(url + path, method, headers, body));
        }
    }

    /** A way for requests to the server. */
    private enum Way {
        DIRECT,
        PROXIED,
        IN_MEMORY
    }

    /** Sends a request. */
    private interface Requests {
        Received send(String method, String path, Map<String, List<String>> headers, byte[] body)
                throws IOException, InterruptedException;
    }

    private record Received(int code, HttpHeaders headers, byte[] body) {}

    private static Received overHttp(String url, String method, Map<String, List<String>> headers, byte[] body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        headers.forEach((header, values) -> request.header(header, values.get(0)));
        HttpResponse<byte[]> response = CLIENT.send(request.build(), BodyHandlers.ofByteArray());
        return new Received(response.statusCode(), response.headers(), response.body());
    }

    /** Takes an answer; that to a watch ends with the first of the timers. */
    private static final class InMemory implements InMemoryApi.Receiver {
        private final NavigableMap<Duration, Runnable> timers = new TreeMap<>();
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private int code;
        private Map<String, List<String>> fields = Map.of();

        Received send(
                InMemoryApiServer server, String method, String path, Map<String, List<String>> headers, byte[] body) {
            content.reset();
            server.api().handle(method, path, headers, body, this);
            if (server.api().openWatches() > 0) {
                timers.firstEntry().getValue().run();
            }
            timers.clear();
            return new Received(code, HttpHeaders.of(fields, (name, value) -> true), content.toByteArray());
        }

        @Override
        public void head(int status, Map<String, List<String>> headers) {
            code = status;
            fields = headers;
        }

        @Override
        public void body(byte[] piece) {
            content.writeBytes(piece);
        }

        @Override
        public void end() {}
    }

    private void compare(List<ObjectNode> lines, ClusterObjects store, Requests requests) throws Exception {
        for (ObjectNode line : lines.subList(1, lines.size())) {
            if (line.has("clock")) {
                now = Instant.parse(line.path("clock").asText());
            } else if (line.has("put")) {
                JsonNode object = JsonTrees.parse(resolved(line.path("put").toString()));
                withoutUids(store.put(object).toString());
            } else {
                compare(line, answer(requests, line));
            }
        }
    }

    private EmbeddedApiServer.Builder server(JsonNode line) {
        KubernetesVersion version = KubernetesVersion.parse(line.path("version").asText());
        EmbeddedApiServer.Builder server =
                EmbeddedApiServer.builder().version(version).clock(() -> now);
        if (line.has("node")) {
            server.node(line.path("node").asText());
        }
        if (line.has("historySize")) {
            server.historySize(line.path("historySize").asInt());
        }
        if (line.path("preReleaseVersions").asBoolean()) {
            server.preReleaseVersions();
        }
        Stream.of(FeatureGate.values())
                .filter(gate -> gate.existsIn(version))
                .filter(gate ->
                        List.of("all", gate.text()).contains(line.path("gates").asText()))
                .forEach(gate -> server.featureGate(gate, true));
        return server;
    }

    private static void compare(ObjectNode line, ObjectNode answer) {
        if (UPDATE) {
            line.setAll(answer);
        }
        assertThat(line.deepCopy().retain("code", "contentType", "retryAfter", "warning", "answer"))
                .as("%s %s", line.path("method").asText(), line.path("path").asText())
                .isEqualTo(answer);
    }

    private ObjectNode answer(Requests requests, JsonNode line) throws IOException, InterruptedException {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        headers.put("User-Agent", List.of("test/1"));
        headers.put("Accept", List.of(line.path("accept").asText("*/*")));
        if (line.has("type")) {
            headers.put("Content-Type", List.of(line.path("type").asText()));
        }
        Received response = requests.send(
                line.path("method").asText(), resolved(line.path("path").asText()), headers, body(line));
        String type = response.headers().firstValue("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        String text = KubernetesProtobuf.isProtobuf(type)
                ? CODEC.decode(response.body()).toString()
                : new String(response.body(), UTF_8);
        ObjectNode answer = JsonTrees.object().put("code", response.code());
        if (!type.equals("application/json")) {
            answer.put("contentType", type);
        }
        response.headers().firstValue("Warning").ifPresent(warning -> answer.put("warning", warning));
        response.headers().firstValue("Retry-After").ifPresent(seconds -> answer.put("retryAfter", seconds));
        boolean isObject = text.startsWith("{") && text.lines().count() == 1; // and not events of a watch
        return answer.set(
                "answer", isObject ? JsonTrees.parse(withoutUids(text)) : TextNode.valueOf(withoutUids(text)));
    }

    /** The body as it is sent: an object in the form that its type says, and a text as it is. */
    private byte[] body(JsonNode line) {
        JsonNode body = line.path("body");
        if (body.isMissingNode()) {
            return new byte[0];
        }
        String text = resolved(body.isTextual() ? body.asText() : body.toString());
        return KubernetesProtobuf.isProtobuf(line.path("type").asText())
                ? CODEC.encode(JsonTrees.parse(text))
                : text.getBytes(UTF_8);
    }

    private String withoutUids(String text) {
        return UID.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        uids.computeIfAbsent(found.group(), uid -> "{uid%d}".formatted(uids.size() + 1))));
    }

    private String resolved(String text) {
        String resolved = text;
        for (Map.Entry<String, String> uid : uids.entrySet()) {
            resolved = resolved.replace(uid.getValue(), uid.getKey());
        }
        return resolved;
    }
}
