// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole way of a claim: real sockets, real processes, real HTTP, real files. */
class ClaimWayIT {

    private DriverUnderTest driver;

    @BeforeEach
    void start() throws Exception {
        driver = new DriverUnderTest();
        driver.start();
        driver.awaitRegistered();
    }

    @AfterEach
    void stop() throws Exception {
        driver.close();
    }

    private ClaimAnswer prepare(KubeletClaim claim) {
        CallResult result = driver.kubelet.prepare(DRIVER, List.of(claim));
        assertThat(result.complaint()).isEmpty();
        return result.answers().get(claim.uid());
    }

    private void unprepare(KubeletClaim claim) {
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim)).complaint()).isEmpty();
    }

    @Test
    void devicesArePublishedForTheNode() throws Exception {
        var slice = driver.api.store().awaitObject("resourceslices", found -> true, PATIENCE);

        assertThat(slice.at("/spec/driver").asText()).isEqualTo(DRIVER);
        assertThat(slice.at("/spec/nodeName").asText()).isEqualTo("node-1");
        assertThat(slice.at("/spec/pool/name").asText()).isEqualTo("node-1");
        assertThat(slice.at("/spec/devices")).hasSize(8);
        assertThat(slice.at("/spec/devices/3/attributes/model/string").asText())
                .isEqualTo("LATEST-GPU-MODEL");
        assertThat(slice.at("/metadata/ownerReferences/0/kind").asText()).isEqualTo("Node");
    }

    @Test
    void aPrepareRepeatedAfterSigkillAnswersTheSameBytes() throws Exception {
        KubeletClaim claim = driver.allocate("claim", "gpu-0", "gpu-1");
        ClaimAnswer first = prepare(claim);
        assertThat(first.devices()).hasSize(2);
        String spec = Files.readString(driver.cdi.resolve(driver.specs().get(0)));

        driver.restartAfterKill();

        assertThat(prepare(claim).wire()).isEqualTo(first.wire());
        assertThat(driver.specs()).hasSize(1);
        assertThat(driver.cdi.resolve(driver.specs().get(0))).hasContent(spec);
    }

    @Test
    void unprepareAfterSigkillNeedsNoObjectAndLeavesNothing() throws Exception {
        KubeletClaim claim = driver.allocate("claim", "gpu-0");
        prepare(claim);
        driver.deleteObject(claim);
        driver.restartAfterKill();

        unprepare(claim);

        assertThat(driver.specs()).isEmpty();
        assertThat(driver.terminate()).isZero();
        assertThat(Files.readAllLines(driver.journal))
                .as("the journal is its header alone")
                .singleElement()
                .asString()
                .contains("\"format\":\"dra4j-claims\"");
    }

    @Test
    void aTruncatedLastLineOfTheJournalIsSurvived() throws Exception {
        KubeletClaim kept = driver.allocate("kept", "gpu-0");
        KubeletClaim torn = driver.allocate("torn", "gpu-1");
        ClaimAnswer answer = prepare(kept);
        prepare(torn);
        driver.kill();
        cutLastBytes(driver.journal, 20);

        driver.start();
        assertThat(driver.kubelet.awaitUnregistered(DRIVER, PATIENCE)).isTrue();
        driver.awaitRegistered();

        assertThat(prepare(kept).wire()).isEqualTo(answer.wire());
        assertThat(prepare(torn).devices()).hasSize(1);
        unprepare(torn);
        unprepare(kept);
        assertThat(driver.specs()).isEmpty();
    }

    private static void cutLastBytes(Path file, int count) throws IOException {
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() - count);
        }
    }

    @Test
    @Tag("DRA-VER-02")
    void bothServicesShareOneState() throws Exception {
        KubeletClaim claim = driver.allocate("claim", "gpu-0");
        ClaimAnswer v1 = prepare(claim);

        CallResult v1beta1 = driver.kubelet.prepare(DRIVER, List.of(claim), Service.V1BETA1);
        assertThat(v1beta1.answers().get(claim.uid()).devices()).isEqualTo(v1.devices());
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim), Service.V1BETA1).complaint())
                .isEmpty();
        assertThat(driver.specs()).isEmpty();
    }

    @Test
    void aBatchIsAnsweredClaimByClaim() throws Exception {
        KubeletClaim a = driver.allocate("a", "gpu-0");
        KubeletClaim b = driver.allocate("b", "gpu-1");
        KubeletClaim missing = new KubeletClaim("default", "missing", "uid-of-nobody");

        CallResult result = driver.kubelet.prepare(DRIVER, List.of(a, missing, b));

        assertThat(result.status()).isEqualTo(CallResult.OK);
        assertThat(result.answers()).hasSize(3);
        assertThat(result.answers().get(a.uid()).error()).isEmpty();
        assertThat(result.answers().get(b.uid()).error()).isEmpty();
        assertThat(result.answers().get("uid-of-nobody").error()).contains("missing");
    }

    @Test
    void aDeviceIsPreparedForOneClaimAtATime() throws Exception {
        KubeletClaim first = driver.allocate("first", "gpu-0");
        KubeletClaim second = driver.allocate("second", "gpu-0");
        prepare(first);

        assertThat(driver.kubelet.prepare(DRIVER, List.of(second)).complaint())
                .hasValueSatisfying(
                        complaint ->
                                assertThat(complaint).contains("gpu-0 is held by another claim"));
        unprepare(first);
        assertThat(prepare(second).devices()).hasSize(1);
    }

    @Test
    void aStopKeepsSlicesAndSpecsAndRemovesTheSockets() throws Exception {
        KubeletClaim claim = driver.allocate("claim", "gpu-0");
        prepare(claim);
        driver.api.store().awaitObject("resourceslices", found -> true, PATIENCE);

        assertThat(driver.terminate()).isZero();

        assertThat(driver.kubelet.awaitUnregistered(DRIVER, PATIENCE)).isTrue();
        assertThat(driver.registry).isEmptyDirectory();
        assertThat(driver.journal.resolveSibling("dra.sock")).doesNotExist();
        assertThat(driver.specs()).hasSize(1);
        assertThat(driver.api.store().list("resourceslices")).hasSize(1);
    }

    @Test
    void healthThatIsNotServedIsUnimplementedAndLeavesNoLogLine() throws Exception {
        assertThat(
                        driver.kubelet.awaitEvents(
                                events ->
                                        events.stream()
                                                .anyMatch(e -> e.detail().equals("UNIMPLEMENTED")),
                                PATIENCE))
                .isTrue();
        assertThat(driver.log()).doesNotContainIgnoringCase("health").doesNotContain("KEEPALIVE");
    }
}
