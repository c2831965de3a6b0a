// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A request that kube-apiserver was sent, and the answer that it gave. */
record RecordedRequest(JsonNode line) {
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
            return Matcher.quoteReplacement(Json.text(answer, "metadata", field));
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
