// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a driver ends that is asked to. */
@DisplayNameGeneration(RequirementNames.class)
class StopIT {

    private static final Duration LONGEST_STOP = Duration.ofSeconds(10);
    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest();
    }

    @BeforeEach
    void startAgain() throws Exception {
        if (!node.driver.isAlive()) {
            assertThat(node.driver.startRegistered()).isTrue();
        }
    }

    @AfterEach
    void cleanUp() throws Exception {
        startAgain();
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static Duration stopTime() throws Exception {
        long begin = System.nanoTime();
        assertThat(node.driver.terminate()).as(node.driver::logTail).isZero();
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    @Test
    @Tag("DRA-SHUT-01")
    void sigtermEndsTheDriverWithinTenSecondsAlsoWhileTheApiServerHangs() throws Exception {
        Duration idle = stopTime(); // the kubelet's health stream is open, as ever
        assertThat(node.driver.startRegistered()).isTrue();
        KubeletClaim claim = node.allocate("gpu-0");
        int before = node.driver.proxy.lastNumber();
        try (var hanging = node.driver.proxy.inject(Fault.delay(Duration.ofMinutes(10)))) {
            CompletableFuture<CallResult> call = NodeUnderTest.async(() -> node.call(claim));
            node.driver.proxy.await(
                    PATIENCE, Requests.to("resourceclaims").and(Requests.after(before)));

            Duration busy = stopTime();

            System.out.println("DRA-SHUT-01: stopped idle in " + idle + ", busy in " + busy);
            assertThat(List.of(idle, busy)).allMatch(time -> time.compareTo(LONGEST_STOP) < 0);
            assertThat(call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).complaint()).isPresent();
            assertThat(hanging.over()).isFalse();
        }
        node.driver.proxy.down();
        node.driver.proxy.up();
    }

    @Test
    @Tag("DRA-SHUT-02")
    void specsAndStateOfPreparedClaimsOutliveAStop() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0", "gpu-1");
        ClaimAnswer answer = node.prepare(claim);
        Map<String, String> specs = node.cdi.content();
        assertThat(specs).hasSize(1);

        stopTime();

        assertThat(node.cdi.content()).isEqualTo(specs);
        assertThat(node.driver.startRegistered()).isTrue();
        assertThat(node.cdi.content()).isEqualTo(specs);
        assertThat(node.refusal(node.allocate("gpu-0"))).contains("held");
        assertThat(node.prepare(claim).wire()).isEqualTo(answer.wire());
    }

    @Test
    @Tag("DRA-SHUT-03")
    void aPrepareInFlightAtSigtermEndsAndLeavesWhatAKillLeaves() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        int before = node.driver.proxy.lastNumber();
        CompletableFuture<CallResult> call;
        try (var late =
                node.driver.proxy.inject(
                        Fault.delay(Duration.ofSeconds(2)).on(Requests.to("resourceclaims")))) {
            call = NodeUnderTest.async(() -> node.call(claim));
            node.driver.proxy.await(
                    PATIENCE, Requests.to("resourceclaims").and(Requests.after(before)));
            stopTime();
            assertThat(late.over()).isFalse();
        }
        CallResult result = call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        System.out.println("DRA-SHUT-03: the call in flight ended with " + result.complaint());
        if (result.complaint().isEmpty()) {
            assertThat(node.specOf(claim)).exists();
        }
        assertThat(node.driver.startRegistered()).isTrue();
        node.unprepare(claim);
        assertThat(node.cdi.content()).isEmpty();
        node.prepare(node.allocate("gpu-0"));
        assertThat(node.driver.kubelet.plugins(DRIVER)).hasSize(1);
    }
}
