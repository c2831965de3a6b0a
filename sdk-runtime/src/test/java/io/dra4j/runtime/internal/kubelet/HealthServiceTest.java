// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesResponse;
import io.dra4j.runtime.internal.claim.ClaimOperations.OwnerText;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HealthServiceTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.999Z");

    private final HealthReports reports = new HealthReports();
    private final Inventory inventory =
            Inventory.of(Pool.ofNode("node-a", List.of(Device.builder("gpu-0").build())));

    @AutoClose
    private final HealthFeed feed = new HealthFeed(reports, () -> Optional.of(inventory));

    private final HealthService service = new HealthService(feed, () -> NOW);

    private void report(HealthState state) {
        PoolName pool = new PoolName("node-a");
        DeviceName gpu = new DeviceName("gpu-0");
        reports.report(List.of(new DeviceHealth(pool, gpu, state, "", Duration.ofHours(1))));
    }

    /** Reads when the test wants it to. */
    private static final class Caller extends ServerCallStreamObserver<NodeWatchResourcesResponse> {
        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();
        private volatile boolean ready = true;
        private Runnable onReady = () -> {};
        private Runnable onCancel = () -> {};

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {
            onReady = handler;
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {
            onCancel = handler;
        }

        @Override
        public void onNext(NodeWatchResourcesResponse message) {
            var device = message.getDevices(0);
            long timeout = device.getHealthCheckTimeoutSeconds();
            got.add(device.getHealth() + " at " + device.getLastUpdatedTime() + " for " + timeout);
        }

        @Override
        public void onError(Throwable failure) {
            got.add("error " + failure);
        }

        @Override
        public void onCompleted() {
            got.add("end");
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public void setCompression(String compression) {}

        @Override
        public void disableAutoInboundFlowControl() {}

        @Override
        public void request(int count) {}

        @Override
        public void setMessageCompression(boolean enable) {}

        String await() throws InterruptedException {
            return got.poll(20, TimeUnit.SECONDS);
        }
    }

    private Caller open() {
        Caller caller = new Caller();
        service.nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), caller);
        return caller;
    }

    @Test
    void giveACallerThatDoesNotReadTheNewestListWhenItDoes() throws Exception {
        Caller slow = open();
        assertThat(slow.await()).startsWith("UNKNOWN");
        slow.ready = false;
        Caller quick = open();
        assertThat(quick.await()).startsWith("UNKNOWN");
        report(HealthState.UNHEALTHY);
        assertThat(quick.await()).startsWith("UNHEALTHY");
        report(HealthState.HEALTHY);
        assertThat(quick.await()).startsWith("HEALTHY");

        report(HealthState.UNKNOWN);
        assertThat(quick.await()).startsWith("UNKNOWN"); // all have received HEALTHY by now

        assertThat(slow.got).isEmpty();
        slow.ready = true;
        slow.onReady.run();

        assertThat(slow.await()).doesNotStartWith("UNHEALTHY");
    }

    @Test
    void areForgottenWhenTheyAreCancelled() throws Exception {
        Caller cancelled = open();
        assertThat(cancelled.await()).isNotNull();
        cancelled.onCancel.run();

        report(HealthState.HEALTHY);
        feed.close();

        assertThat(cancelled.got).isEmpty();
    }

    @Test
    void areDatedInSecondsOfThePastAndEndWithTheFeed() throws Exception {
        Caller caller = open();
        assertThat(caller.await()).isEqualTo("UNKNOWN at " + NOW.getEpochSecond() + " for 30");
        feed.close();

        assertThat(caller.await()).isEqualTo("end");
        caller.onReady.run();
        assertThat(caller.got).isEmpty();
    }

    static Stream<Arguments> messages() {
        return Stream.of(
                arguments("", ""),
                arguments("ü", "ü"),
                arguments("x".repeat(1024), "x".repeat(1024)),
                arguments("😀".repeat(256), "😀".repeat(256)),
                arguments("x" + "😀".repeat(300), "x" + "😀".repeat(255)),
                arguments("half \uD83D pair", "half ? pair"));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void haveAMessageOf1024BytesAtMostWhichIsCutBetweenCharacters(String message, String sent) {
        assertThat(OwnerText.cut(message, HealthService.LONGEST_MESSAGE)).isEqualTo(sent);
    }
}
