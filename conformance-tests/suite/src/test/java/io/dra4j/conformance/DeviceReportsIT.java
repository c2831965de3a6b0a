// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the driver reports of prepared devices, to the cluster and to containers. */
class DeviceReportsIT {

    private static final String[] OPTIONS = {"--gpu-device-status", "--gpu-device-metadata"};
    private static final Predicate<RecordedRequest> STATUS_WRITES =
            Requests.updates("resourceclaims");
    private static final ObjectMapper JSON = new ObjectMapper();

    private static DriverUnderTest driver;

    @BeforeAll
    static void start() throws Exception {
        driver = new DriverUnderTest();
        driver.start(OPTIONS);
        driver.awaitRegistered();
    }

    @AfterAll
    static void stop() {
        driver.close();
    }

    private static void prepare(KubeletClaim claim) {
        assertThat(driver.kubelet.prepare(DRIVER, List.of(claim)).complaint()).isEmpty();
    }

    private static void unprepare(KubeletClaim claim) {
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim)).complaint()).isEmpty();
    }

    private static JsonNode awaitClaim(KubeletClaim claim, Predicate<JsonNode> wanted)
            throws Exception {
        try {
            return driver.api
                    .store()
                    .awaitObject(
                            "resourceclaims",
                            found ->
                                    found.at("/metadata/name").asText().equals(claim.name())
                                            && wanted.test(found),
                            PATIENCE);
        } catch (AssertionError e) {
            throw new AssertionError(driver.proxy.log() + "\n" + driver.log(), e);
        }
    }

    private static Optional<JsonNode> entry(JsonNode claim, String driverName) {
        for (JsonNode entry : claim.at("/status/devices")) {
            if (entry.path("driver").asText().equals(driverName)) {
                return Optional.of(entry);
            }
        }
        return Optional.empty();
    }

    private static String ready(JsonNode claim) {
        return entry(claim, DRIVER)
                .map(entry -> condition(entry, "Ready").path("status").asText())
                .orElse("");
    }

    private static JsonNode condition(JsonNode entry, String type) {
        for (JsonNode condition : entry.path("conditions")) {
            if (condition.path("type").asText().equals(type)) {
                return condition;
            }
        }
        return JSON.createObjectNode();
    }

    /** Applies entries to a claim's status as somebody else, past the proxy. */
    private static void applyAs(String manager, KubeletClaim claim, String entries)
            throws Exception {
        HttpResponse<String> answer =
                HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(
                                                driver.api
                                                        .url()
                                                        .resolve(
                                                                "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/"
                                                                        + claim.name()
                                                                        + "/status?force=true&fieldManager="
                                                                        + manager))
                                        .header("Content-Type", "application/apply-patch+yaml")
                                        .method(
                                                "PATCH",
                                                BodyPublishers.ofString(
                                                        """
                                                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
                                                         "metadata":{"name":"%s"},"status":{"devices":[%s]}}
                                                        """
                                                                .formatted(claim.name(), entries)))
                                        .build(),
                                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private static String conditionOfOurs(String device, String type, String status) {
        return """
               {"driver":"%s","pool":"node-1","device":"%s","conditions":[{"type":"%s","status":"%s",
                "reason":"Other","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}
               """
                .formatted(DRIVER, device, type, status);
    }

    @Nested
    class Status {

        @Test
        @Tag("DRA-DST-01")
        void ofOwnDevicesIsWrittenBesideThatOfOthersAndGoesAlone() throws Exception {
            KubeletClaim claim =
                    driver.allocateResults(
                            "mixed",
                            "{\"device\":\"gpu-0\"}",
                            "{\"device\":\"nic-0\",\"driver\":\"nic.example.com\"}");
            applyAs(
                    "nic",
                    claim,
                    "{\"driver\":\"nic.example.com\",\"pool\":\"node-1\",\"device\":\"nic-0\",\"data\":{\"mtu\":9000}}");
            applyAs("admin", claim, conditionOfOurs("gpu-0", "Seen", "True"));

            prepare(claim);
            JsonNode written = awaitClaim(claim, found -> ready(found).equals("True"));
            JsonNode ours = entry(written, DRIVER).orElseThrow();
            assertThat(ours.at("/data/uuid").asText()).startsWith("gpu-");
            assertThat(ours.at("/data/model").asText()).isEqualTo("LATEST-GPU-MODEL");
            assertThat(ours.at("/data/driverVersion").asText()).isEqualTo("1.0.0");
            assertThat(condition(ours, "Seen").path("status").asText()).isEqualTo("True");
            assertThat(entry(written, "nic.example.com").orElseThrow().at("/data/mtu").asInt())
                    .isEqualTo(9000);
            assertThat(written.at("/metadata/managedFields").findValuesAsText("manager"))
                    .contains(DRIVER + "/node-1", "nic", "admin");
            assertWithinLimits(ours);

            unprepare(claim);
            JsonNode left = awaitClaim(claim, found -> ready(found).isEmpty());
            assertThat(entry(left, DRIVER).orElseThrow().has("data")).isFalse();
            assertThat(condition(entry(left, DRIVER).orElseThrow(), "Seen")).isNotEmpty();
            assertThat(entry(left, "nic.example.com")).isEqualTo(entry(written, "nic.example.com"));
        }

        private static void assertWithinLimits(JsonNode entry) {
            assertThat(entry.path("conditions")).hasSizeLessThanOrEqualTo(8);
            assertThat(entry.path("data").toString().length()).isLessThanOrEqualTo(10_240);
        }

        @Test
        @Tag("DRA-DST-01")
        void isWrittenThoughThereAreConflicts() throws Exception {
            KubeletClaim claim = driver.allocate("contested", "gpu-1");
            int number = driver.proxy.lastNumber();
            try (Injection conflicts =
                    driver.proxy.inject(Fault.status(409, "Conflict").on(STATUS_WRITES).times(2))) {
                prepare(claim);
                awaitClaim(claim, found -> ready(found).equals("True"));
                assertThat(conflicts.over()).isTrue();
            }
            assertThat(driver.proxy.requests(STATUS_WRITES.and(Requests.after(number))))
                    .as(driver.proxy.log())
                    .hasSize(3);
            unprepare(claim);
        }

        @Test
        @Tag("DRA-DST-02")
        void thatCanNotBeWrittenKeepsNoPodWaitingAndIsWrittenLater() throws Exception {
            for (int status : List.of(403, 409, 500)) {
                KubeletClaim claim = driver.allocate("refused-" + status, "gpu-3");
                Injection refusal =
                        driver.proxy.inject(Fault.status(status, "Refused").on(STATUS_WRITES));
                int number = driver.proxy.lastNumber();
                prepare(claim);
                driver.proxy.await(PATIENCE, STATUS_WRITES.and(Requests.after(number)));
                assertThat(ready(awaitClaim(claim, found -> true))).isEmpty();

                refusal.close();
                awaitClaim(claim, found -> ready(found).equals("True"));
                unprepare(claim);
            }
        }

        @Test
        @Tag("DRA-DST-01")
        @Tag("DRA-DST-02")
        void thatIsMissingOrForcedByAnotherIsWrittenAfterAKill() throws Exception {
            KubeletClaim forced = driver.allocate("forced", "gpu-2");
            prepare(forced);
            awaitClaim(forced, found -> ready(found).equals("True"));
            applyAs("admin", forced, conditionOfOurs("gpu-2", "Ready", "False"));
            assertThat(ready(awaitClaim(forced, found -> true))).isEqualTo("False");
            KubeletClaim missing = driver.allocate("missing", "gpu-4");
            Injection refusal = driver.proxy.inject(Fault.status(503, "Refused").on(STATUS_WRITES));
            int number = driver.proxy.lastNumber();
            prepare(missing);
            driver.proxy.await(PATIENCE, STATUS_WRITES.and(Requests.after(number)));
            driver.kill();
            refusal.close();
            assertThat(ready(awaitClaim(missing, found -> true))).isEmpty();

            driver.restartAfterKill(OPTIONS);

            awaitClaim(forced, found -> ready(found).equals("True"));
            awaitClaim(missing, found -> ready(found).equals("True"));
            unprepare(forced);
            unprepare(missing);
        }
    }

    @Nested
    class Metadata {

        private JsonNode spec(KubeletClaim claim) throws Exception {
            String file =
                    driver.specs().stream()
                            .filter(name -> name.contains(claim.uid()))
                            .findFirst()
                            .orElseThrow();
            return JSON.readTree(Files.readAllBytes(driver.cdi.resolve(file)));
        }

        /** The host's files by the paths that containers read, through the CDI spec's mounts. */
        private List<JsonNode> mounts(KubeletClaim claim) throws Exception {
            List<JsonNode> mounts = new ArrayList<>();
            spec(claim).findValues("mounts").forEach(of -> of.forEach(mounts::add));
            return mounts;
        }

        private List<JsonNode> objects(Path file) throws Exception {
            try (var objects = JSON.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile())) {
                return objects.readAll();
            }
        }

        @Test
        @Tag("DRA-META-01")
        void isThereAndParsesWhenPrepareReturnsAndGoesWithUnprepare() throws Exception {
            KubeletClaim claim = driver.allocate("described", "gpu-5", "gpu-6");
            prepare(claim);

            assertThat(mounts(claim)).hasSize(1);
            JsonNode mount = mounts(claim).get(0);
            assertThat(mount.path("containerPath").asText())
                    .isEqualTo(
                            "/var/run/kubernetes.io/dra-device-attributes/resourceclaims/described/gpu/"
                                    + DRIVER
                                    + "-metadata.json");
            Path file = Path.of(mount.path("hostPath").asText());
            List<JsonNode> objects = objects(file);
            assertThat(objects)
                    .extracting(object -> object.path("apiVersion").asText())
                    .containsExactly(
                            "metadata.resource.k8s.io/v1beta1",
                            "metadata.resource.k8s.io/v1alpha1");
            for (JsonNode object : objects) {
                assertThat(object.path("kind").asText()).isEqualTo("DeviceMetadata");
                assertThat(object.at("/metadata/uid").asText()).isEqualTo(claim.uid());
                assertThat(object.at("/metadata/generation").asInt()).isEqualTo(1);
                assertThat(object.at("/requests/0/name").asText()).isEqualTo("gpu");
                assertThat(object.at("/requests/0/devices").findValuesAsText("name"))
                        .containsExactly("gpu-5", "gpu-6");
                assertThat(object.at("/requests/0/devices/0/attributes/index/int").asInt())
                        .isEqualTo(5);
            }

            unprepare(claim);
            assertThat(file).doesNotExist();
            assertThat(file.getParent().getParent().getParent()).isEmptyDirectory();
        }

        @Test
        @Tag("DRA-META-01")
        void thatIsLostIsThereAgainAfterAPrepareOrAStart() throws Exception {
            KubeletClaim claim = driver.allocate("lost", "gpu-7");
            prepare(claim);
            Path file = Path.of(mounts(claim).get(0).path("hostPath").asText());
            String content = Files.readString(file);

            Files.delete(file);
            prepare(claim);
            assertThat(file).hasContent(content);

            Files.delete(file);
            driver.restartAfterKill(OPTIONS);
            assertThat(file).hasContent(content);
            unprepare(claim);
        }
    }
}
