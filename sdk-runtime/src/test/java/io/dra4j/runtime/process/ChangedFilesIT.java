// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.GrpcProbe;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A driver whose policy and devices change while it runs, as admins and kubelets see it. */
@Tag("slow")
class ChangedFilesIT {

    private static final String DESCRIBE = """
            rules:
            - match: {names: [gpu-0]}
              attributes: {example.com/tier: {string: gold}}
              taints: [{key: example.com/burn-in, effect: NoSchedule}]
            """;
    private static final String EXCLUDE = "rules: [{match: {nodes: [node-1], names: [gpu-3]}, exclude: true}]";
    private static final String WRONG = "rules: [{match: {names: [\"gpu-[0-1]\"]}, exclude: true}]";
    private static final String BROKEN = "left out: gpu-3: Its memory is broken\n";
    private static final String REASON = "Its library can't be opened";

    @AutoClose
    private static TestNode node;

    private static Volume policy;
    private static Path leftOut;
    private static Path restartReason;
    private static DriverPages pages;

    /** A ConfigMap's volume: its files are links through one that is replaced as a whole. */
    private record Volume(Path directory) {

        static Volume of(String policy) throws IOException {
            Volume volume = new Volume(Files.createDirectory(node.place().root().resolve("policy")));
            volume.put("..1", policy);
            Files.createSymbolicLink(volume.file(), Path.of("..data", "policy.yaml"));
            return volume;
        }

        Path file() {
            return directory.resolve("policy.yaml");
        }

        void put(String version, String policy) throws IOException {
            Path content = Files.createDirectory(directory.resolve(version));
            Files.writeString(content.resolve("policy.yaml"), policy);
            Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of(version));
            Files.move(next, directory.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        node = TestDriver.node();
        policy = Volume.of(DESCRIBE);
        leftOut = Files.createFile(node.place().root().resolve("left-out"));
        restartReason = node.place().root().resolve("restart-reason");
        node.start(
                DriverPages.option(node),
                "--healthcheck-port=0",
                "--device-policy=" + policy.file(),
                "--left-out=" + leftOut,
                "--restart-reason=" + restartReason);
        node.awaitRegistered();
        pages = DriverPages.of(node);
        pages.awaitReady();
    }

    /** The driver never reads half of it. */
    private static void write(Path file, String content) throws IOException {
        Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void awaitEvent(String type, String reason, String message) {
        JsonNode event = node.api()
                .store()
                .awaitObject(
                        "events",
                        e -> e.path("reason").asText().equals(reason)
                                && e.path("message").asText().contains(message),
                        TIMEOUT);
        assertThat(event.path("type").asText()).isEqualTo(type);
        assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
        assertThat(event.at("/involvedObject/name").asText()).isEqualTo(TestNode.NAME);
    }

    private static int count(String text) {
        return node.log().split(text, -1).length - 1;
    }

    private static List<String> devices(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> slice.at("/spec/devices").findValuesAsText("name").stream())
                .toList();
    }

    @Test
    void aPolicyIsAppliedAndReloadedAWrongOneIsReportedAndClaimsStay() throws Exception {
        List<JsonNode> first = node.awaitSlices(slices -> devices(slices).size() == 8);
        JsonNode device = first.get(0).at("/spec/devices/0");
        assertThat(device.at("/attributes/example.com~1tier/string").asText()).isEqualTo("gold");
        assertThat(device.at("/taints/0/key").asText()).isEqualTo("example.com/burn-in");

        policy.put("..2", WRONG);

        awaitEvent("Warning", "DevicePolicyRejected", policy.file() + " can't be applied");
        awaitEvent("Warning", "DevicePolicyRejected", "rules[0]: \"gpu-[0-1]\" matches no name");
        assertThat(devices(node.api().store().list("resourceslices"))).hasSize(8);
        assertThat(value(pages.scrape(), "dra4j_problems_total", "DevicePolicyRejected"))
                .isEqualTo(1);

        KubeletClaim claim = node.allocate("claim", "gpu-3");
        assertThat(node.prepare(claim).complaint()).isEmpty();
        policy.put("..3", EXCLUDE);

        List<JsonNode> without = node.awaitSlices(slices -> devices(slices).size() == 7);
        assertThat(devices(without)).contains("gpu-2", "gpu-4").doesNotContain("gpu-3");
        awaitEvent("Normal", "PublishingRecovered", "The device policy can be applied again");
        assertThat(value(pages.scrape(), "dra4j_excluded_devices")).isEqualTo(1);
        assertThat(node.prepare(claim).complaint()).isEmpty();
        assertThat(node.specs()).hasSize(1);
        assertThat(node.unprepare(claim).complaint()).isEmpty();

        policy.put("..4", DESCRIBE);
        node.awaitSlices(slices -> devices(slices).size() == 8);
    }

    @Test
    void whatIsLeftOutIsAnEventAMetricAndOnTheReadinessPage() throws Exception {
        write(leftOut, "gpu-3 Its memory is broken\n");

        pages.await("/readyz", page -> page.body().equals("ready\n" + BROKEN));
        assertThat(pages.get("/readyz").statusCode()).isEqualTo(200);
        awaitEvent("Warning", "DevicesLeftOut", "1 device is left out: gpu-3: Its memory is broken");
        Map<String, Double> scrape = pages.scrape();
        assertThat(value(scrape, "dra4j_left_out_devices")).isEqualTo(1);
        assertThat(value(scrape, "dra4j_problems_total", "DevicesLeftOut")).isEqualTo(1);

        write(leftOut, "");

        pages.await("/readyz", page -> page.body().equals("ready\n"));
        awaitEvent("Normal", "PublishingRecovered", "no longer leaves out any device");
        assertThat(value(pages.scrape(), "dra4j_left_out_devices")).isZero();
        assertThat(count("The driver leaves a device out")).isEqualTo(1);
    }

    @Test
    void aDriverThatNeedsARestartFailsItsLivenessProbes() throws Exception {
        try (GrpcProbe probe = GrpcProbe.ofLog(node.log()).orElseThrow()) {
            assertThat(pages.get("/healthz").statusCode()).isEqualTo(200);
            assertThat(probe.check("liveness")).isEqualTo("SERVING");

            write(restartReason, REASON);

            HttpResponse<String> health = pages.get("/healthz");
            assertThat(health.statusCode()).isEqualTo(503);
            assertThat(health.body()).isEqualTo("restart needed: " + REASON + "\n");
            assertThat(probe.check("liveness")).isEqualTo("NOT_SERVING");
            assertThat(probe.check("")).isEqualTo("NOT_SERVING");
            awaitEvent("Warning", "RestartNeeded", REASON);
            assertThat(count("ERROR .*The driver needs a restart")).isEqualTo(1);
            assertThat(pages.get("/readyz").statusCode()).isEqualTo(200);

            Files.delete(restartReason);

            assertThat(pages.get("/healthz").statusCode()).isEqualTo(200);
            assertThat(probe.check("liveness")).isEqualTo("SERVING");
        }
    }
}
