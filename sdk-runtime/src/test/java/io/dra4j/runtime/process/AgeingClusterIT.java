// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers with a new claim each second, also while earlier ones wait, in a cluster that ages. */
@Tag("slow")
@Timeout(240)
class AgeingClusterIT {

    private static final String[] DEVICES =
            IntStream.range(0, TestDriverMain.DEVICES).mapToObj(i -> "gpu-" + i).toArray(String[]::new);

    /** The kubelet gives up after 45 s. */
    private static final Duration LONGEST = Duration.ofSeconds(35);

    @AutoClose("shutdownNow")
    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(DEVICES.length + 2);

    private final List<KubeletClaim> claims = new ArrayList<>(); // one of each device
    private final List<Future<?>> calls = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(ints = {1_500, 2_700})
    void noPrepareIsLateAndNoDeviceLost(int millis) throws Exception {
        try (TestNode node = TestDriver.node()) {
            node.start();
            node.awaitRegistered();
            node.awaitSlices(slices -> !slices.isEmpty());

            at(millis, Executors.callable(node.proxy()::silence));
            prepareEachSecond(node, "silent");
            assertThat(node.kubelet().unprepare(NAME, claims).complaint()).isEmpty();

            at(millis, Executors.callable(() -> {
                node.proxy().replaceAuthority();
                node.proxy().closeConnections();
            }));
            at(
                    millis + 1_500,
                    () -> node.proxy().writeServiceAccount(node.place().serviceAccount(), "default"));
            prepareEachSecond(node, "authority");

            node.kubelet().close();
            try (FakeKubelet kubelet = FakeKubelet.start(node.place().registry())) {
                assertThat(kubelet.awaitRegistered(NAME, TIMEOUT)).isTrue();
                prepareWhatWasForgotten(node, kubelet);
                assertThat(kubelet.unprepare(NAME, claims).complaint()).isEmpty();
                prepare(kubelet, node.allocate("everything", DEVICES), DEVICES);
                assertThat(node.specs()).hasSize(1);
            }
        }
    }

    private void at(int millis, Callable<?> task) {
        calls.add(clock.schedule(task, millis, TimeUnit.MILLISECONDS));
    }

    private void prepareEachSecond(TestNode node, String what) throws Exception {
        claims.clear();
        for (int i = 0; i < DEVICES.length; i++) {
            String device = DEVICES[i];
            KubeletClaim claim = node.allocate(what + "-" + i, device);
            claims.add(claim);
            at(i * 1_000, () -> prepare(node.kubelet(), claim, device));
        }
        writeKubeletState(node);
        for (Future<?> call : calls) {
            call.get();
        }
        calls.clear();
        assertThat(node.specs()).hasSize(DEVICES.length);
    }

    /** The kubelet has lost its state: half of the claims are prepared again, and the devices of the others given away. */
    private void prepareWhatWasForgotten(TestNode node, FakeKubelet kubelet) throws Exception {
        Files.delete(KubeletStateFile.of(node.place().plugins()).path());
        for (int i = 0; i < DEVICES.length; i += 2) {
            node.delete(claims.get(i));
            claims.set(i, node.allocate("next-" + i, DEVICES[i]));
        }
        writeKubeletState(node);
        for (int i = 0; i < DEVICES.length; i++) {
            prepare(kubelet, claims.get(i), DEVICES[i]);
        }
        assertThat(node.specs()).hasSize(DEVICES.length);
    }

    private void writeKubeletState(TestNode node) {
        KubeletStateFile.of(node.place().plugins())
                .write(claims.stream()
                        .map(claim -> "{\"ClaimUID\":\"" + claim.uid() + "\"}")
                        .toArray(String[]::new));
    }

    private static CallResult prepare(FakeKubelet kubelet, KubeletClaim claim, String... devices) {
        long start = System.nanoTime();
        CallResult result = kubelet.prepare(NAME, List.of(claim));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONGEST);
        assertThat(result.complaint()).isEmpty();
        assertThat(result.results().get(claim.uid()).devices())
                .extracting(PreparedDevice::device)
                .containsExactly(devices);
        return result;
    }
}
