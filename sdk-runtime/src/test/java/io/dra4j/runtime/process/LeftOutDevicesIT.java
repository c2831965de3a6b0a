// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.GrpcProbe;
import io.dra4j.testkit.TestNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A driver with broken devices, or one that needs a restart, as admins and kubelets see it. */
@Tag("slow")
class LeftOutDevicesIT {

    private static final String BROKEN = "left out: gpu-3: Its memory is broken\n";
    private static final String NONE_OFFERED = "not ready\ndevices: all are left out, and none is offered\n";
    private static final String REASON = "Its library can't be opened";

    /** The driver never reads half of it. */
    private static void write(Path file, String content) throws IOException {
        Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static JsonNode event(TestNode node, String reason) {
        JsonNode event = node.api()
                .store()
                .awaitObject("events", e -> e.path("reason").asText().equals(reason), TIMEOUT);
        assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
        assertThat(event.at("/involvedObject/name").asText()).isEqualTo(TestNode.NAME);
        return event;
    }

    private static int count(TestNode node, String text) {
        return node.log().split(text, -1).length - 1;
    }

    @Test
    void whatIsLeftOutIsAnEventAMetricAndOnTheReadinessPage() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Path leftOut = Files.createFile(node.place().root().resolve("left-out"));
            node.start(DriverPages.OPTION, "--left-out=" + leftOut);
            node.awaitRegistered();
            DriverPages pages = DriverPages.ofProcess(1, node);
            pages.awaitReady();

            write(leftOut, "gpu-3 Its memory is broken\n");

            pages.await("/readyz", page -> page.body().equals("ready\n" + BROKEN));
            assertThat(pages.get("/readyz").statusCode()).isEqualTo(200);
            JsonNode event = event(node, "DevicesLeftOut");
            assertThat(event.path("type").asText()).isEqualTo("Warning");
            assertThat(event.path("message").asText()).isEqualTo("1 device is left out: gpu-3: Its memory is broken");
            Map<String, Double> scrape = pages.scrape();
            assertThat(value(scrape, "dra4j_left_out_devices")).isEqualTo(1);
            assertThat(value(scrape, "dra4j_problems_total", "DevicesLeftOut")).isEqualTo(1);

            write(
                    leftOut,
                    IntStream.range(0, 8)
                            .mapToObj(i -> "gpu-" + i + " Its memory is broken\n")
                            .collect(Collectors.joining()));

            String none = pages.await("/readyz", page -> page.body().startsWith(NONE_OFFERED));
            assertThat(none).contains(BROKEN);
            assertThat(none.lines()).hasSize(10);
            assertThat(pages.get("/readyz").statusCode()).isEqualTo(503);
            assertThat(pages.get("/healthz").statusCode()).isEqualTo(200);

            write(leftOut, "");

            pages.await("/readyz", page -> page.body().equals("ready\n"));
            JsonNode end = event(node, "PublishingRecovered");
            assertThat(end.path("type").asText()).isEqualTo("Normal");
            assertThat(value(pages.scrape(), "dra4j_left_out_devices")).isZero();
            assertThat(count(node, "The driver leaves a device out")).isEqualTo(8);
        }
    }

    @Test
    void aDriverThatNeedsARestartFailsItsLivenessProbes() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Path reason = node.place().root().resolve("restart-reason");
            node.start(DriverPages.OPTION, GrpcProbe.OPTION, "--restart-reason=" + reason);
            node.awaitRegistered();
            DriverPages pages = DriverPages.ofProcess(1, node);
            pages.awaitReady();
            try (GrpcProbe probe = GrpcProbe.of(node)) {
                assertThat(pages.get("/healthz").statusCode()).isEqualTo(200);
                assertThat(probe.check("liveness")).isEqualTo("SERVING");

                write(reason, REASON);

                HttpResponse<String> health = pages.get("/healthz");
                assertThat(health.statusCode()).isEqualTo(503);
                assertThat(health.body()).isEqualTo("restart needed: " + REASON + "\n");
                assertThat(probe.check("liveness")).isEqualTo("NOT_SERVING");
                assertThat(probe.check("")).isEqualTo("NOT_SERVING");
                JsonNode event = event(node, "RestartNeeded");
                assertThat(event.path("type").asText()).isEqualTo("Warning");
                assertThat(event.path("message").asText()).endsWith(REASON);
                assertThat(count(node, "ERROR .*The driver needs a restart")).isEqualTo(1);
                assertThat(pages.get("/readyz").statusCode()).isEqualTo(200);

                Files.delete(reason);

                assertThat(pages.get("/healthz").statusCode()).isEqualTo(200);
                assertThat(probe.check("liveness")).isEqualTo("SERVING");
            }
        }
    }
}
