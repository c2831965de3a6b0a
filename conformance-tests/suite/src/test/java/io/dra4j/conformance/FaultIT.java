// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_DEVICE_TAINTS;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Devices that fail, are unplugged and come back while the driver runs. */
class FaultIT {

    /** The server's clock: it would show in a taint's time if that were set again. */
    private final AtomicReference<Instant> now =
            new AtomicReference<>(Instant.parse("2026-01-02T03:04:05Z"));

    private DevicesUnderTest gpus;

    @BeforeEach
    void start() throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.V1_36)
                                .featureGate(DRA_DEVICE_TAINTS, true)
                                .clock(now::get),
                        "--num-devices=3");
        gpus.awaitPublished(devices -> devices.size() == 3);
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    private JsonNode taintOf(String device, String reason) throws Exception {
        return gpus.awaitPublished(
                        devices ->
                                devices.containsKey(device)
                                        && devices.get(device)
                                                .at("/taints/0/value")
                                                .asText()
                                                .equals(reason))
                .get(device)
                .at("/taints/0");
    }

    @Test
    @Tag("DRA-TAINT-01")
    void aTaintKeepsItsTimeOverRepublishingResyncsAndARestart() throws Exception {
        gpus.faults("gpu-0 NoSchedule hot");
        JsonNode taint = taintOf("gpu-0", "hot");
        assertThat(taint.path("timeAdded").asText()).isEqualTo("2026-01-02T03:04:05Z");
        now.set(Instant.parse("2026-02-03T04:05:06Z"));
        int number = gpus.driver.proxy.lastNumber();

        gpus.faults("# the same again", "gpu-0 NoSchedule hot");
        resync();
        resync();
        gpus.restart();
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).isEmpty();

        gpus.faults("gpu-0 NoSchedule hot", "gpu-1 None odd"); // all of the above is over by then
        assertThat(taintOf("gpu-1", "odd").path("timeAdded").asText())
                .isEqualTo("2026-02-03T04:05:06Z");
        assertThat(gpus.published().get("gpu-0").at("/taints/0")).isEqualTo(taint);
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).hasSize(1);
        System.out.printf("DRA-TAINT-01:%n%s%n", gpus.driver.proxy.log());
    }

    /** Ends the watch as too old: the driver lists and watches again. */
    private void resync() {
        int number = gpus.driver.proxy.lastNumber();
        gpus.driver.proxy.expireWatches();
        gpus.driver.proxy.await(
                PATIENCE, Requests.lists("resourceslices").and(Requests.after(number)));
        gpus.awaitWatching(number);
    }

    @Test
    @Tag("DRA-TAINT-02")
    void aFaultTaintsTheDeviceAndRecoveryRemovesTheTaint() throws Exception {
        int number = gpus.driver.proxy.lastNumber();

        gpus.faults("gpu-1 NoExecute ecc-error");
        Instant written = Instant.now();
        JsonNode taint = taintOf("gpu-1", "ecc-error");
        assertThat(taint.path("key").asText()).isEqualTo(DRIVER + "/fault");
        assertThat(taint.path("effect").asText()).isEqualTo("NoExecute");
        gpus.faults();
        gpus.awaitPublished(devices -> devices.values().stream().noneMatch(d -> d.has("taints")));

        List<RecordedRequest> writes = gpus.writesAfter(number);
        assertThat(writes).as(gpus.driver.proxy.log()).hasSize(2);
        System.out.printf(
                "DRA-TAINT-02: the taint was on its way %d ms after the fault, of 1 + 1 writes%n",
                Duration.between(written, writes.get(0).at()).toMillis());
    }

    @Test
    @Tag("DRA-TAINT-03")
    void anAllocatedDeviceIsPreparedThoughItIsTainted() throws Exception {
        gpus.faults("gpu-0 NoExecute ecc-error", "gpu-1 NoSchedule hot");
        taintOf("gpu-1", "hot");

        for (String device : List.of("gpu-0", "gpu-1")) {
            KubeletClaim claim =
                    gpus.driver.allocateResults(
                            "tolerates-" + device,
                            """
                            {"device":"%s","tolerations":[{"key":"%s/fault","operator":"Exists"}]}
                            """
                                    .formatted(device, DRIVER));
            assertThat(gpus.prepare(claim)).isEmpty();
            gpus.unprepare(claim);
        }
    }

    @Test
    @Tag("DRA-SLICE-12")
    void aDeviceIsUnpluggedAndPluggedInWithoutARestart() throws Exception {
        int number = gpus.driver.proxy.lastNumber();

        gpus.faults("gpu-1 absent");
        assertThat(gpus.awaitPublished(devices -> devices.size() == 2))
                .containsOnlyKeys("gpu-0", "gpu-2");
        gpus.faults("gpu-2 absent");
        gpus.awaitPublished(devices -> devices.containsKey("gpu-1") && devices.size() == 2);
        gpus.faults();
        gpus.awaitPublished(devices -> devices.size() == 3);

        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).hasSize(3);
        assertThat(gpus.slices()).hasSize(1);
    }

    @Test
    @Tag("DRA-SLICE-12")
    void aBadLineKeepsTheLastGoodSlicesUntilItIsMended() throws Exception {
        gpus.faults("gpu-1 absent");
        gpus.awaitPublished(devices -> devices.size() == 2);
        int number = gpus.driver.proxy.lastNumber();

        gpus.faults("gpu-1 absent", "gpu-2 abesnt");
        JsonNode event =
                gpus.driver
                        .api
                        .store()
                        .awaitObject(
                                "events",
                                e -> e.path("reason").asText().equals("InventoryUnreadable"),
                                PATIENCE);
        assertThat(event.path("message").asText()).contains("faults", "line 2", "<device> absent");
        assertThat(gpus.published()).containsOnlyKeys("gpu-0", "gpu-2");
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).isEmpty();

        gpus.faults("gpu-1 absent", "gpu-2 absent");
        gpus.awaitPublished(devices -> devices.size() == 1);
    }
}
