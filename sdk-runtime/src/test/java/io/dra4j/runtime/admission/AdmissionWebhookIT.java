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
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The webhook by reviews over TLS. */
class AdmissionWebhookIT {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String UNKNOWN_FIELD =
            "config 0 from the claim: LaneConfig: unknown field colour; known are lanes, mode";

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

        @ParameterizedTest
        @ValueSource(strings = {"DELETE", "CONNECT"})
        void allowsWhatWritesNothing(String operation) throws Exception {
            ObjectNode review = (ObjectNode) JSON.readTree(Reviews.text("claim-unknown-field-v1"));
            review.withObject("/request").put("operation", operation);

            assertThat(response(CLAIMS, review.toString()).path("allowed").asBoolean())
                    .isTrue();
        }

        @Test
        void namesTheFieldOfEachProblem() throws Exception {
            JsonNode claim =
                    response(CLAIMS, Reviews.text("claim-two-problems")).path("status");
            JsonNode template = response(CLAIMS, Reviews.text("template-invalid-v1"));

            List<String> fields = new ArrayList<>();
            claim.path("details")
                    .path("causes")
                    .forEach(c -> fields.add(c.path("field").asText()));
            assertThat(fields)
                    .containsExactly(
                            "spec.devices.config[0].opaque.parameters", "spec.devices.config[2].opaque.parameters");
            assertThat(claim.path("message").asText())
                    .isEqualTo("spec.devices.config[0].opaque.parameters: "
                            + UNKNOWN_FIELD
                            + "; spec.devices.config[2].opaque.parameters: config 2 from"
                            + " the claim: LaneConfig: lanes must be 1 to 8");
            assertThat(claim.path("details").path("kind").asText()).isEqualTo("ResourceClaim");
            assertThat(claim.path("details").path("name").asText()).isEqualTo("lanes");
            assertThat(template.at("/status/details/causes/0/field").asText())
                    .isEqualTo("spec.spec.devices.config[1].opaque.parameters");
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
        void areRefusedWhatClaimsStandFor() throws Exception {
            JsonNode response = response(PODS, Reviews.text("pod-with-limit"));

            assertThat(response.path("allowed").asBoolean()).isFalse();
            assertThat(response.at("/status/message").asText())
                    .startsWith("spec.containers[0].resources.limits[example.com/lane]: example.com/lane is not for"
                            + " pods of this namespace; request the device by a ResourceClaimTemplate")
                    .contains("spec.containers[0].resources.requests[example.com/lane]");
        }

        @Test
        void areAllowedClaims() throws Exception {
            assertThat(response(PODS, Reviews.text("pod-with-claim"))
                            .path("allowed")
                            .asBoolean())
                    .isTrue();
        }

        @ParameterizedTest
        @CsvSource({"group, apps", "version, v2", "kind, PodTemplate"})
        void aloneAreReviewed(String part, String value) throws Exception {
            ObjectNode review = (ObjectNode) JSON.readTree(Reviews.text("pod-with-claim"));
            review.withObject("/request/kind").put(part, value);

            HttpResponse<String> answer = webhook.post(PODS, review.toString());

            assertThat(answer.body()).endsWith("this page is for Pod of v1\n");
            assertThat(answer.statusCode()).isEqualTo(400);
        }

        @Test
        void areRefusedForTheirInitContainersToo() throws Exception {
            String review = Reviews.text("pod-with-limit").replace("\"containers\"", "\"initContainers\"");

            assertThat(response(PODS, review).at("/status/message").asText())
                    .startsWith("spec.initContainers[0].resources.limits[example.com/lane]: ");
        }

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

        private void assertRefused(String review, String reason) throws Exception {
            HttpResponse<String> answer = webhook.post(CLAIMS, review);

            assertThat(answer.body()).isEqualTo(reason + "\n");
            assertThat(answer.statusCode()).isEqualTo(400);
        }

        private String changed(String pointer, @Nullable String value) throws Exception {
            ObjectNode review = (ObjectNode) JSON.readTree(Reviews.text("claim-valid-v1"));
            int end = pointer.lastIndexOf('/');
            review.withObject(pointer.substring(0, end)).put(pointer.substring(end + 1), value);
            return review.toString();
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        /apiVersion|admission.k8s.io/v1beta1|the document is a "admission.k8s.io/v1beta1 AdmissionReview", not a "admission.k8s.io/v1 AdmissionReview"
                        /kind|Pod|the document is a "admission.k8s.io/v1 Pod", not a "admission.k8s.io/v1 AdmissionReview"
                        /request/uid||the review has no request.uid
                        /request/operation|PATCH|the review has the unknown request.operation "PATCH"
                        /request/object||the review has no request.object
                        /request/kind/group|example.com|the review is of the kind "ResourceClaim" of "example.com/v1"; this page is for ResourceClaim and ResourceClaimTemplate of resource.k8s.io/v1, v1beta1 and v1beta2
                        /request/kind/version|v2|the review is of the kind "ResourceClaim" of "resource.k8s.io/v2"; this page is for ResourceClaim and ResourceClaimTemplate of resource.k8s.io/v1, v1beta1 and v1beta2
                        /request/kind/kind|DeviceClass|the review is of the kind "DeviceClass" of "resource.k8s.io/v1"; this page is for ResourceClaim and ResourceClaimTemplate of resource.k8s.io/v1, v1beta1 and v1beta2
                        """)
        void isAReviewThatCannotBeAnswered(String pointer, @Nullable String value, String reason) throws Exception {
            assertRefused(changed(pointer, value), reason);
        }

        @ParameterizedTest
        @ValueSource(strings = {"{", "{} {}", "\u0000", "<xml/>"})
        void isADocumentThatIsNotJson(String document) throws Exception {
            HttpResponse<String> answer = webhook.post(CLAIMS, document);

            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(answer.body()).startsWith("the document is not JSON: ");
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "[]", "{}", "null", "3"})
        void isAnotherDocument(String document) throws Exception {
            assertRefused(document, "the document is a \"\", not a \"admission.k8s.io/v1 AdmissionReview\"");
        }

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

        @ParameterizedTest
        @ValueSource(strings = {"text/plain", "application/yaml", "application/json-patch+json"})
        void isOfAnotherType(String type) throws Exception {
            HttpResponse<String> answer = webhook.send(webhook.request(CLAIMS)
                    .header("Content-Type", type)
                    .POST(BodyPublishers.ofString(Reviews.text("delete")))
                    .build());

            assertThat(answer.statusCode()).isEqualTo(415);
            assertThat(answer.body()).isEqualTo("the Content-Type must be application/json\n");
        }

        @Test
        void mayNameTheCharset() throws Exception {
            assertThat(webhook.send(webhook.request(CLAIMS)
                                    .header("Content-Type", "Application/JSON; charset=utf-8")
                                    .POST(BodyPublishers.ofString(Reviews.text("delete")))
                                    .build())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Nested
    class TheServer {

        @ParameterizedTest
        @ValueSource(strings = {"/readyz", "/healthz"})
        void hasProbes(String path) throws Exception {
            HttpResponse<String> answer = webhook.send(webhook.request(path).build());

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("ok\n");
        }

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
