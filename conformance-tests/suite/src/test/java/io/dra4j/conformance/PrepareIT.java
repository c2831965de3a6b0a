// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kubelet hears when it lets claims be prepared. */
@DisplayNameGeneration(RequirementNames.class)
class PrepareIT {

    private static final int DEVICES = 40;
    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest("--num-devices=" + DEVICES);
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-01")
    void everyUidOfTheRequestGetsOneAnswerAndNoOtherDoes(Service service) {
        KubeletClaim claim = node.allocate("gpu-0");

        CallResult result = node.driver.kubelet.prepare(DRIVER, List.of(claim), service);

        assertThat(result.status()).isEqualTo(CallResult.OK);
        assertThat(result.answers()).containsOnlyKeys(claim.uid());
        assertThat(result.answers().get(claim.uid()).error()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-02")
    void everyOwnResultIsReportedByItsPoolAndDevice(Service service) {
        ClaimAnswer answer = node.prepare(node.allocate("gpu-2", "gpu-1"), service);

        assertThat(answer.devices()).extracting(PreparedDevice::pool).containsOnly(NODE);
        assertThat(answer.devices())
                .extracting(PreparedDevice::device)
                .containsExactlyInAnyOrder("gpu-1", "gpu-2");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-03")
    void devicesAreReportedForTheirMainRequest(Service service) {
        KubeletClaim claim =
                node.create(
                        node.claim()
                                .request("first", "gpu-0")
                                .request("second", "gpu-1")
                                .alternatives("third", "b", "gpu-2"));

        Map<String, List<String>> requests = new TreeMap<>();
        node.prepare(claim, service).devices().forEach(d -> requests.put(d.device(), d.requests()));

        assertThat(requests)
                .isEqualTo(
                        Map.of(
                                "gpu-0", List.of("first"),
                                "gpu-1", List.of("second"),
                                "gpu-2", List.of("third")));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-04")
    void aClaimMayHaveThirtyTwoDevices(Service service) {
        String[] devices = IntStream.range(0, 32).mapToObj(i -> "gpu-" + i).toArray(String[]::new);

        ClaimAnswer answer = node.prepare(node.allocate(devices), service);

        assertThat(answer.devices())
                .extracting(PreparedDevice::device)
                .containsExactlyInAnyOrder(devices);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-05")
    void aRepeatedPrepareIsAnsweredTheSameAndTouchesNoSpec(Service service) throws Exception {
        KubeletClaim claim = node.allocate("gpu-0", "gpu-1");
        ClaimAnswer first = node.prepare(claim, service);
        Map<String, String> specs = node.cdi.content();

        for (int i = 0; i < 10; i++) {
            assertThat(node.prepare(claim, service).wire()).isEqualTo(first.wire());
        }

        assertThat(node.cdi.content()).isEqualTo(specs);
    }

    @Test
    @Tag("DRA-PREP-06")
    void sixteenPreparesOfOneClaimAtOnceAgree() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0", "gpu-1");

        List<CompletableFuture<ClaimAnswer>> calls = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            calls.add(NodeUnderTest.async(() -> node.prepare(claim)));
        }
        List<String> wires = calls.stream().map(call -> call.join().wire()).distinct().toList();

        assertThat(wires).hasSize(1);
        assertThat(node.cdi.content()).hasSize(1);
        node.unprepare(claim);
        assertThat(node.cdi.content()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-07")
    void aBatchOfEightClaimsIsPrepared(Service service) throws Exception {
        List<KubeletClaim> claims =
                IntStream.range(0, 8).mapToObj(i -> node.allocate("gpu-" + i)).toList();

        CallResult result = node.driver.kubelet.prepare(DRIVER, claims, service);

        assertThat(result.complaint()).isEmpty();
        assertThat(result.answers()).hasSize(8);
        assertThat(node.cdi.content()).hasSize(8);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-08")
    void aClaimThatFailsDoesNotTouchTheOthersOfItsBatch(Service service) {
        KubeletClaim good = node.allocate("gpu-0");
        KubeletClaim bad = node.allocate("no-such");
        KubeletClaim absent = new KubeletClaim("default", "absent", "uid-of-nobody");
        KubeletClaim also = node.allocate("gpu-1");

        CallResult result =
                node.driver.kubelet.prepare(DRIVER, List.of(good, bad, absent, also), service);

        assertThat(result.status()).isEqualTo(CallResult.OK);
        assertThat(result.answers())
                .containsOnlyKeys(good.uid(), bad.uid(), absent.uid(), also.uid());
        assertThat(result.answers().get(good.uid()).devices()).hasSize(1);
        assertThat(result.answers().get(also.uid()).devices()).hasSize(1);
        assertThat(result.answers().get(bad.uid()).error()).contains("no-such");
        assertThat(result.answers().get(absent.uid()).error()).isNotEmpty();
    }

    @Test
    @Tag("DRA-PREP-09")
    void aFailedPrepareLeavesNothingAndHoldsNoDevice() throws Exception {
        KubeletClaim mixed = node.allocate("gpu-0", "no-such");
        Map<String, String> before = node.cdi.content();

        assertThat(node.refusal(mixed)).contains("no-such");

        assertThat(node.cdi.content()).isEqualTo(before);
        node.prepare(node.allocate("gpu-0"));
        node.unprepare(mixed);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-13")
    void resultsOfOtherDriversAreLeftAlone(Service service) throws Exception {
        KubeletClaim claim =
                node.create(
                        node.claim()
                                .request("gpu", "gpu-0")
                                .result("gpu", "other.example.com", NODE, "gpu-0")
                                .result("gpu", "other.example.com", NODE, "gpu-1"));

        ClaimAnswer answer = node.prepare(claim, service);

        assertThat(answer.devices()).extracting(PreparedDevice::device).containsExactly("gpu-0");
        assertThat(node.environment(answer)).noneMatch(e -> e.contains("gpu-1"));
        node.prepare(node.allocate("gpu-1"));
        KubeletClaim failing =
                node.create(
                        node.claim()
                                .request("gpu", "no-such")
                                .result("gpu", "other.example.com", NODE, "gpu-0"));
        node.refusal(failing, service);
        node.unprepare(failing);
        assertThat(node.prepare(claim, service).wire()).isEqualTo(answer.wire());
    }

    @Test
    @Tag("DRA-PREP-14")
    void configsOfOtherDriversAreNotRead() throws Exception {
        KubeletClaim claim =
                node.create(
                        node.claim()
                                .request("gpu", "gpu-0")
                                .config(
                                        "FromClaim",
                                        "other.example.com",
                                        "{\"kind\":\"Nonsense\",\"x\":[1,{}]}")
                                .config("FromClass", "absent.example.com", "{\"y\":null}"));

        assertThat(node.prepare(claim).devices()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-15")
    void aDeviceThatTheDriverDoesNotHaveIsRefused(Service service) throws Exception {
        assertThat(node.refusal(node.allocate("gpu-" + DEVICES), service))
                .contains("gpu-" + DEVICES);
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-PREP-16")
    void aKnownDeviceInAPoolThatIsNotItsOwnIsRefused() throws Exception {
        KubeletClaim claim =
                node.create(
                        node.claim().request("gpu").result("gpu", DRIVER, "another-pool", "gpu-0"));

        assertThat(node.refusal(claim)).contains("another-pool");
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-PREP-17")
    void aClaimWithoutOwnResultsHasNoEffect() throws Exception {
        KubeletClaim claim =
                node.create(
                        node.claim()
                                .request("gpu")
                                .result("gpu", "other.example.com", NODE, "gpu-0"));

        CallResult result = node.call(claim);

        assertThat(result.answers()).containsOnlyKeys(claim.uid());
        assertThat(result.answers().get(claim.uid()).devices()).isEmpty();
        assertThat(node.cdi.content()).isEmpty();
        node.prepare(node.allocate("gpu-0"));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-PREP-29")
    void anEmptyCallIsAnsweredAndARepetitionInACallIsOneClaim(Service service) throws Exception {
        CallResult empty = node.driver.kubelet.prepare(DRIVER, List.of(), service);
        assertThat(empty.status()).isEqualTo(CallResult.OK);
        assertThat(empty.answers()).isEmpty();
        KubeletClaim claim = node.allocate("gpu-0");

        CallResult twice = node.driver.kubelet.prepare(DRIVER, List.of(claim, claim), service);

        assertThat(twice.complaint()).isEmpty();
        assertThat(twice.answers()).containsOnlyKeys(claim.uid());
        assertThat(node.cdi.content()).hasSize(1);
    }

    @Test
    @Tag("DRA-PREP-30")
    void aClaimIsPreparedAfreshAfterItsUnprepareAndWhenItIsMadeAnew() throws Exception {
        String name = node.name();
        KubeletClaim old =
                node.known(TestClaim.named(name).request("r", "gpu-0").create(node.driver));
        ClaimAnswer first = node.prepare(old);
        node.unprepare(old);
        assertThat(node.prepare(old).wire()).isEqualTo(first.wire());
        node.unprepare(old);
        node.driver.deleteObject(old);

        KubeletClaim anew =
                node.known(TestClaim.named(name).request("r", "gpu-1").create(node.driver));

        assertThat(anew.uid()).isNotEqualTo(old.uid());
        ClaimAnswer answer = node.prepare(anew);
        assertThat(answer.devices()).extracting(PreparedDevice::device).containsExactly("gpu-1");
        assertThat(node.environment(answer)).noneMatch(e -> e.contains(old.uid()));
    }
}
