// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import static io.dra4j.runtime.admission.WebhookUnderTest.CLAIMS;
import static io.dra4j.runtime.admission.WebhookUnderTest.PODS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.AdmissionWebhook;
import io.dra4j.runtime.ClaimPreview;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.testkit.Scenarios;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The webhook by reviews over TLS. */
class AdmissionWebhookIT {

    private static final JsonMapper JSON = new JsonMapper();

    /** The reviews that are answered, and the messages of those that are refused. */
    private static final List<Arguments> ANSWERS = Reviews.answers();

    @AutoClose
    private static WebhookUnderTest webhook;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        webhook = WebhookUnderTest.start(folder, List.of("example.com/lane"));
    }

    private static JsonNode response(String path, String review) throws Exception {
        HttpResponse<String> answer = webhook.post(path, review);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        JsonNode document = JSON.readTree(answer.body());
        assertThat(document.path("apiVersion").asText()).isEqualTo("admission.k8s.io/v1");
        assertThat(document.path("kind").asText()).isEqualTo("AdmissionReview");
        assertThat(document.path("response").path("uid").asText()).isEqualTo("0df28fbd-5f5f-11e8-bc74-36e6bb280816");
        return document.path("response");
    }

    @Nested
    class AnAnswer {

        @ParameterizedTest
        @FieldSource("io.dra4j.runtime.admission.AdmissionWebhookIT#ANSWERS")
        void allowsOrRefuses(String review, @Nullable String message) throws Exception {
            JsonNode response = response(CLAIMS, Reviews.text(review));

            assertThat(response.path("allowed").asBoolean()).isEqualTo(message == null);
            assertThat(response.path("allowed").isBoolean()).isTrue();
            if (message == null) {
                assertThat(response.has("status")).isFalse();
            } else {
                JsonNode status = response.path("status");
                assertThat(status.path("code").asInt()).isEqualTo(422);
                assertThat(status.path("reason").asText()).isEqualTo("Invalid");
                assertThat(status.path("message").asText()).contains(message);
                assertThat(status.path("details")
                                .path("causes")
                                .path(0)
                                .path("message")
                                .asText())
                        .isEqualTo(message);
            }
        }

        @Test
        void isOfABoundedLength() throws Exception {
            ObjectNode review = (ObjectNode) JSON.readTree(Reviews.text("claim-unknown-field-v1"));
            JsonNode entry = review.at("/request/object/spec/devices/config/0");
            for (int i = 0; i < 1_000; i++) {
                review.withArray("/request/object/spec/devices/config").add(entry);
            }
            ((ObjectNode) entry.at("/opaque/parameters")).put("x".repeat(5_000), 1);

            String answer = webhook.post(CLAIMS, review.toString()).body();

            assertThat(JSON.readTree(answer).at("/response/status/details/causes"))
                    .hasSize(32);
            assertThat(answer.length()).isLessThan(300_000);
        }
    }

    /** Requests to a webhook, and its answers, as webhook-requests.txt says. */
    @Nested
    class ARequest implements ScenarioSteps {

        private ObjectNode review = JSON.createObjectNode();
        private String document = "";
        private String type = "application/json";
        private HttpResponse<String> answer;

        @Scenarios("webhook-requests.txt")
        void isAnswered(String scenario) throws Exception {
            play(scenario);
        }

        @Override
        public void run(String[] words, String text) throws Exception {
            switch (words[0]) {
                case "review" -> {
                    review = (ObjectNode) JSON.readTree(Reviews.text(words[1]));
                    document = review.toString();
                }
                case "set" -> {
                    int end = words[1].lastIndexOf('/');
                    review.withObject(words[1].substring(0, end))
                            .put(words[1].substring(end + 1), text.equals("null") ? null : text);
                    document = review.toString();
                }
                case "rename" -> document = document.replace("\"" + words[1] + "\"", "\"" + words[2] + "\"");
                case "document" -> document = text.translateEscapes();
                case "type" -> type = text;
                case "post" ->
                    answer = webhook.send(webhook.request(words[1])
                            .header("Content-Type", type)
                            .POST(BodyPublishers.ofString(document))
                            .build());
                case "get" -> answer = webhook.send(webhook.request(words[1]).build());
                case "code" -> assertThat(answer.statusCode()).isEqualTo(Integer.parseInt(text));
                case "body" -> assertThat(answer.body()).isEqualTo(text + "\n");
                case "body-begins" -> assertThat(answer.body()).startsWith(text);
                case "body-ends" -> assertThat(answer.body()).endsWith(text + "\n");
                case "allowed" ->
                    assertThat(response(words[1], document).path("allowed").asText())
                            .isEqualTo(text);
                case "says" -> assertThat(responseAt(words)).isEqualTo(text);
                case "says-first" -> assertThat(responseAt(words)).startsWith(text);
                case "says-too" -> assertThat(responseAt(words)).contains(text);
                default -> throw new IllegalArgumentException(words[0]);
            }
        }

        private String responseAt(String... words) throws Exception {
            return response(words[1], document).at(words[2]).asText();
        }
    }

    @Nested
    class AMessage {

        private final ClaimPreview prepare = ClaimPreview.of(
                LaneConfigs.DRIVER,
                LaneConfigs.TYPES,
                Inventory.of(
                        Pool.ofNode("node", List.of(Device.builder("lane-0").build()))));

        static Stream<String> refusedClaims() {
            return ANSWERS.stream()
                    .filter(row -> row.get()[1] != null)
                    .map(row -> (String) row.get()[0])
                    .filter(name -> name.startsWith("claim-") && !name.contains("v1beta"));
        }

        /** The claim as it would be allocated if the webhook had not been asked. */
        private String allocated(JsonNode object) {
            ObjectNode claim = object.deepCopy();
            claim.withObject("/metadata").put("name", "lanes");
            ObjectNode devices = claim.withObject("/status/allocation/devices");
            devices.withArray("/results")
                    .addObject()
                    .put("request", "lanes")
                    .put("driver", LaneConfigs.DRIVER)
                    .put("pool", "node")
                    .put("device", "lane-0")
                    .put(
                            "adminAccess",
                            object.at("/spec/devices/requests/0/exactly/adminAccess")
                                    .asBoolean(false));
            for (JsonNode entry : object.at("/spec/devices/config")) {
                ObjectNode copy = entry.deepCopy();
                devices.withArray("/config").add(copy.put("source", "FromClaim"));
            }
            return claim.toString();
        }

        @ParameterizedTest
        @MethodSource("refusedClaims")
        void isThatOfPrepare(String name) throws Exception {
            String review = Reviews.text(name);
            JsonNode causes = response(CLAIMS, review).at("/status/details/causes");

            String claim = allocated(JSON.readTree(review).at("/request/object"));

            assertThat(prepare.refusal(claim))
                    .contains(causes.path(0).path("message").asText());
        }
    }

    @Nested
    class Pods {

        @Test
        void areNotReviewedUnlessResourcesAreNamed(@TempDir Path folder) throws Exception {
            try (WebhookUnderTest other = WebhookUnderTest.start(folder, List.of())) {
                assertThat(other.post(PODS, Reviews.text("pod-with-limit")).statusCode())
                        .isEqualTo(404);
            }
        }
    }

    @Nested
    class ABadRequest {

        @Test
        void isADocumentOfADepthThatNoObjectHas() throws Exception {
            assertThat(webhook.post(CLAIMS, "[".repeat(1_000_000)).statusCode()).isEqualTo(400);
        }

        @Test
        void isADocumentThatIsTooLarge() throws Exception {
            String review = Reviews.text("claim-valid-v1");
            int most = 7 * 1024 * 1024;
            String largest = review + " ".repeat(most - review.length());

            assertThat(response(CLAIMS, largest).path("allowed").asBoolean()).isTrue();
            HttpResponse<String> answer = webhook.post(CLAIMS, largest + " ");
            assertThat(answer.statusCode()).isEqualTo(413);
            assertThat(answer.body()).isEqualTo("the document has more than 7340032 bytes\n");
        }
    }

    @Nested
    class TheServer {

        @Test
        void doesNotStartOnAPortInUse(@TempDir Path folder) throws Exception {
            try (WebhookUnderTest first = WebhookUnderTest.start(folder, List.of());
                    AdmissionWebhook second = AdmissionWebhook.of(
                                    LaneConfigs.DRIVER,
                                    LaneConfigs.TYPES,
                                    folder.resolve("tls.crt"),
                                    folder.resolve("tls.key"))
                            .port(first.port())) {
                assertThatThrownBy(second::start)
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining("Can't serve HTTPS on port " + first.port())
                        .hasMessageContaining("choose another port");
            }
        }
    }
}
