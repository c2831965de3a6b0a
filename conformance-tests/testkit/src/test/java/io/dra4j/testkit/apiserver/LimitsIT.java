// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Requests that are too large or too deep for the server, and names that it generates. */
class LimitsIT {
    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder().start();

    private final HttpProbe http = new HttpProbe(server);

    private static String with(String name, String metadata) {
        ObjectNode object = (ObjectNode) JsonTrees.parse(slice(name, 1));
        JsonTrees.metadata(object).setAll((ObjectNode) JsonTrees.parse(json(metadata)));
        return object.toString();
    }

    @Test
    void annotationsTogetherHaveALimit() {
        String most = "{'annotations':{'a':'%s'}}".formatted("x".repeat(256 * 1024 - 1));

        assertThat(http.post(SLICES, with("s2", most)).status()).isEqualTo(201);
        assertThat(http.post(SLICES, with("s3", most.replace("'a'", "'aa'"))).message())
                .contains("metadata.annotations: Too long: may not be more than 262144 bytes");
    }

    @Test
    void aBaseOfNamesIsCheckedAsWell() {
        assertThat(http.post(SLICES, with("", "{'generateName':'Bad_'}")).message())
                .contains("metadata.generateName: Invalid value: \"Bad_\"")
                .contains("metadata.name: Invalid value: \"Bad_");
        assertThat(http.post(SLICES, with("", "{'generateName':'s-'}")).status())
                .isEqualTo(201);
    }

    @Test
    void aGeneratedNameHasATruncatedBase() {
        String base = "0000-gpu.example.com-" + "n".repeat(60) + "-";

        Answer created = http.post(SLICES, with("", "{'generateName':'" + base + "'}"));

        assertThat(created.status()).isEqualTo(201);
        assertThat(created.text("metadata", "name")).hasSize(63).startsWith(base.substring(0, 58));
    }

    @Test
    void aBodyHasALimit() {
        Answer answer = http.post(SLICES, " ".repeat(3 * 1024 * 1024 + 1));

        assertThat(answer.refusal()).isEqualTo("413 RequestEntityTooLarge");
        assertThat(answer.message()).isEqualTo("Request entity too large: limit is 3145728");
    }

    @Test
    void aLongNameIsForTheRulesOfItsField() {
        Answer answer = http.post(SLICES, with("s2", "{'labels':{'%s':'x'}}".formatted("a".repeat(200_000))));

        assertThat(answer.refusal()).isEqualTo("422 Invalid");
        assertThat(answer.message()).contains("metadata.labels: Invalid value: ");
    }

    @Test
    void whatIsDeeperOrLongerThanItReadsIsRefused() {
        String deep = "[".repeat(5_000) + "]".repeat(5_000);
        for (String odd : List.of(deep, "1".repeat(5_000))) {
            Answer answer = http.post(SLICES, slice("s2", 1).replaceFirst("\\{", "{\"odd\":" + odd + ","));

            assertThat(answer.refusal()).as(answer.message()).isEqualTo("400 BadRequest");
        }
    }

    @Test
    void manyWarningsAreCut() throws IOException, InterruptedException {
        ObjectNode object = (ObjectNode) JsonTrees.parse(slice("s2", 1));
        for (int i = 0; i < 90; i++) {
            JsonTrees.child(object, "spec").put("unknown-" + i + "-".repeat(50), 1);
        }

        HttpRequest request = HttpRequest.newBuilder(server.url().resolve(SLICES))
                .POST(HttpRequest.BodyPublishers.ofString(object.toString()))
                .build();
        HttpResponse<Void> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());

        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().allValues("Warning")).hasSizeBetween(40, 60);
    }
}
