// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sequences of requests that a real API server (1.36.2) answered: this one answers the same, but
 * for {@link Differences}.
 */
@Tag("gate")
class RecordedRequestsIT {
    private static final Map<String, List<RecordedRequest>> SEQUENCES = sequences();

    private static Map<String, List<RecordedRequest>> sequences() {
        Map<String, List<RecordedRequest>> sequences = new LinkedHashMap<>();
        Recordings.of("transcripts").stream()
                .map(RecordedRequest::new)
                .forEach(one -> sequences
                        .computeIfAbsent(one.sequence(), name -> new ArrayList<>())
                        .add(one));
        return sequences;
    }

    static Stream<String> names() {
        return SEQUENCES.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void isAnsweredTheSame(String sequence) throws Exception {
        List<String> differences = new ArrayList<>();
        try (var server =
                EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start()) {
            Map<Integer, RecordedAnswer> answers = new HashMap<>();
            for (RecordedRequest request : SEQUENCES.get(sequence)) {
                RecordedAnswer answer = request.send(server, answers);
                answers.put(request.step(), answer);
                request.expected().differences(answer).stream()
                        .map(one -> request + ": " + one)
                        .filter(one -> !Differences.explain(one))
                        .forEach(differences::add);
            }
        }
        assertThat(differences).isEmpty();
    }

    /** A request that kube-apiserver was sent, and the answer that it gave. */
    private record RecordedRequest(JsonNode line) {
        private static final HttpClient CLIENT =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

        /** Stands for a value of an earlier answer of the sequence: {@code {rv0}}. */
        private static final Pattern EARLIER = Pattern.compile("\\{(rv|uid|cont)(\\d+)}");

        private static final Map<String, String> EARLIER_FIELDS =
                Map.of("rv", "resourceVersion", "uid", "uid", "cont", "continue");

        String sequence() {
            return line.path("sequence").asText();
        }

        int step() {
            return line.path("step").asInt();
        }

        RecordedAnswer expected() {
            List<JsonNode> documents = line.path("answer").valueStream().toList();
            String type = line.path("contentType").asText();
            return new RecordedAnswer(line.path("code").asInt(), type, documents);
        }

        /** Sends it, with the values of this server's earlier answers. */
        RecordedAnswer send(EmbeddedApiServer server, Map<Integer, RecordedAnswer> earlier)
                throws IOException, InterruptedException {
            String path = resolved(line.path("path").asText(), earlier);
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
                    .method(line.path("method").asText(), body(earlier))
                    .header("User-Agent", "t/1");
            for (String name : List.of("Accept", "Content-Type")) {
                request.header(name, line.path("headers").path(name).asText("application/json"));
            }
            HttpResponse<String> response = CLIENT.send(request.build(), BodyHandlers.ofString());
            String type = response.headers().firstValue("Content-Type").orElse("");
            return RecordedAnswer.read(response.statusCode(), type, response.body());
        }

        private BodyPublisher body(Map<Integer, RecordedAnswer> earlier) {
            JsonNode body = line.path("body");
            if (body.isNull() || body.isMissingNode()) {
                return BodyPublishers.noBody();
            }
            String text = body.isTextual() ? body.asText() : body.toString();
            return BodyPublishers.ofString(resolved(text, earlier));
        }

        private static String resolved(String text, Map<Integer, RecordedAnswer> earlier) {
            return EARLIER.matcher(text).replaceAll(found -> {
                int step = Integer.parseInt(found.group(2));
                JsonNode answer = earlier.get(step).documents().get(0);
                String field = EARLIER_FIELDS.get(found.group(1));
                return Matcher.quoteReplacement(JsonTrees.text(answer, "metadata", field));
            });
        }

        @Override
        public String toString() {
            return "%s %d %s %s"
                    .formatted(
                            sequence(),
                            step(),
                            line.path("method").asText(),
                            line.path("path").asText());
        }
    }

    /** The answer to a request: its code, its media type, and one document, or the events of a watch. */
    private record RecordedAnswer(int code, String contentType, List<JsonNode> documents) {

        /** The words for values that are others each time, by the field that has them. */
        private static final Map<String, String> RANDOM_FIELDS =
                Map.of("resourceVersion", "RV", "uid", "UID", "continue", "CONT");

        private static final Pattern UID =
                Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

        /** Uids that the recording wrote down in part. */
        private static final Pattern CHOSEN_UID = Pattern.compile("00000000-0000-0000-0000-N");

        private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z");
        private static final Pattern AGE = Pattern.compile("\\d+s");
        private static final Pattern GENERATED = Pattern.compile("gen-[a-z0-9]{5}");
        private static final Pattern REVISION = Pattern.compile("(current: |in record \\()\\d+");
        private static final Pattern LONG_NUMBER = Pattern.compile("\\d{9,}");

        /** An object in a message: its fields are written in Go's order. */
        private static final Pattern QUOTED_OBJECT = Pattern.compile("Invalid value: (\"?\\{.*}\"?): ", Pattern.DOTALL);

        static RecordedAnswer read(int code, String contentType, String body) {
            List<JsonNode> documents = List.of(TextNode.valueOf(body));
            if (contentType.startsWith("application/json")) {
                documents = body.lines()
                        .filter(one -> !one.isBlank())
                        .map(JsonTrees::parse)
                        .toList();
            }
            return new RecordedAnswer(code, contentType, documents);
        }

        /** Says where another answer differs from this one, apart from what is random. */
        List<String> differences(RecordedAnswer other) {
            List<String> found = new ArrayList<>();
            if (code != other.code) {
                return List.of("code %d instead of %d: %s".formatted(other.code, code, other.documents));
            }
            if (!mediaType().equals(other.mediaType())) {
                return List.of("type %s instead of %s".formatted(other.contentType, contentType));
            }
            compare("", array(), other.array(), found);
            if (isYaml()) { // It was recorded in part.
                found.removeIf(one -> one.endsWith(" instead of nothing"));
            }
            return found;
        }

        private String mediaType() {
            return contentType.split(";")[0].strip();
        }

        private boolean isYaml() {
            return mediaType().endsWith("yaml");
        }

        private JsonNode array() {
            ArrayNode array = JsonTrees.MAPPER.createArrayNode();
            documents.forEach(one -> array.add(fixed("", isYaml() ? yaml(one) : one)));
            return array;
        }

        private static JsonNode yaml(JsonNode text) {
            try {
                return JsonTrees.YAML.readTree(text.asText());
            } catch (JsonProcessingException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A copy without what is random. */
        private static JsonNode fixed(String field, JsonNode value) {
            if (value instanceof ObjectNode object) {
                ObjectNode copy = JsonTrees.object();
                object.properties().forEach(one -> copy.set(one.getKey(), fixed(one.getKey(), one.getValue())));
                return copy;
            }
            if (value instanceof ArrayNode array) {
                ArrayNode copy = JsonTrees.MAPPER.createArrayNode();
                array.forEach(one -> copy.add(fixed(field, one)));
                return copy;
            }
            return value.isTextual() ? TextNode.valueOf(fixedText(field, value.asText())) : value;
        }

        private static String fixedText(String field, String text) {
            if (RANDOM_FIELDS.containsKey(field) && !text.isEmpty()) {
                return RANDOM_FIELDS.get(field);
            }
            if (TIME.matcher(text).matches()) {
                return "T";
            }
            if (field.equals("cells") && AGE.matcher(text).matches()) {
                return "AGE";
            }
            String fixed = GENERATED.matcher(text).replaceAll("gen-XXXXX");
            fixed = QUOTED_OBJECT.matcher(fixed).replaceAll("Invalid value: OBJECT: ");
            fixed = CHOSEN_UID.matcher(UID.matcher(fixed).replaceAll("UID")).replaceAll("UID");
            fixed = REVISION.matcher(fixed).replaceAll("$1RV");
            return LONG_NUMBER.matcher(fixed).replaceAll("N");
        }

        private static void compare(String path, JsonNode wanted, JsonNode found, List<String> differences) {
            if (wanted.isObject() && found.isObject()) {
                Set<String> names = new TreeSet<>(JsonTrees.names(wanted));
                names.addAll(JsonTrees.names(found));
                names.forEach(name -> compare(path + "." + name, wanted.path(name), found.path(name), differences));
            } else if (wanted.isArray() && found.isArray() && wanted.size() == found.size()) {
                for (int i = 0; i < wanted.size(); i++) {
                    compare(path + "[" + i + "]", wanted.get(i), found.get(i), differences);
                }
            } else if (!wanted.equals(found)) {
                differences.add("%s: %s instead of %s".formatted(path, shown(found), shown(wanted)));
            }
        }

        private static String shown(JsonNode value) {
            return value.isMissingNode() ? "nothing" : value.toString();
        }
    }
}
