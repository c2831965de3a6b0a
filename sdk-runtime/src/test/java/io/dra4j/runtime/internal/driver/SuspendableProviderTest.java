// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.ProviderWithoutClaims;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SuspendableProviderTest {

    private static final HeldDevice GPU = HeldDevice.builder("gpu", new PoolName("node-a"), new DeviceName("gpu-0"))
            .build();
    private static final HeldClaim CLAIM = HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
            .phase(HeldClaim.Phase.PREPARED)
            .device(GPU)
            .build();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final DeviceReadings READINGS =
            DeviceReadings.builder().value(DeviceMeasure.POWER, 80).build();

    private final Hardware hardware = new Hardware();
    private volatile Instant now = Instant.parse("2026-11-26T03:00:00Z");
    private final SuspendableProvider provider = new SuspendableProvider(hardware, () -> now);

    @BeforeEach
    void read() throws Exception {
        provider.inventory();
        hardware.calls.clear();
    }

    /** A provider that records its calls, each of which can be made to wait or to fail. */
    static final class Hardware extends ProviderWithoutClaims {
        final List<String> calls = new CopyOnWriteArrayList<>();
        volatile Inventory inventory = Inventory.of();
        volatile CountDownLatch measuring = new CountDownLatch(0);
        volatile CountDownLatch reading = new CountDownLatch(0);
        volatile CountDownLatch suspending = new CountDownLatch(0);
        volatile CountDownLatch resuming = new CountDownLatch(0);
        volatile RuntimeException failure;

        private void call(String name, CountDownLatch latch) throws InterruptedException {
            calls.add(name);
            failIfSet();
            latch.await();
        }

        private void failIfSet() {
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public void suspend() throws InterruptedException {
            call("suspend", suspending);
            failIfSet();
        }

        @Override
        public void resume() throws InterruptedException {
            call("resume", resuming);
        }

        @Override
        public DeviceMeter meter() {
            calls.add("meter");
            return new DeviceMeter() {
                @Override
                public DeviceReadings measure(HeldClaim claim, HeldDevice device) throws InterruptedException {
                    call("measure", measuring);
                    return READINGS;
                }

                @Override
                public void close() {
                    calls.add("close");
                }
            };
        }

        @Override
        public Inventory inventory() throws InterruptedException {
            call("inventory", reading);
            return inventory;
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {
            calls.add("unprepare");
        }
    }

    private FutureTask<DeviceReadings> hangingMeasurement() throws Exception {
        hardware.measuring = new CountDownLatch(1);
        DeviceMeter meter = provider.meter();
        FutureTask<DeviceReadings> hanging = new FutureTask<>(() -> meter.measure(CLAIM, GPU));
        new Thread(hanging).start();
        await(() -> hardware.calls.contains("measure"));
        return hanging;
    }

    private static void await(Callable<Boolean> looked) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!looked.call()) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
    }

    @Test
    void aSuspendThatFailsLateIsNoFailureOfTheNext() throws Exception {
        hardware.suspending = new CountDownLatch(1);
        assertThat(provider.trySuspend()).isFalse();
        hardware.failure = new IllegalStateException("a file is open");
        hardware.suspending.countDown();
        await(() -> !provider.isSwitching());

        assertThatThrownBy(provider::tryResume).isSameAs(hardware.failure);
        hardware.failure = null;

        assertThat(provider.tryResume()).isTrue();
        await(provider::trySuspend);
        assertThat(hardware.calls).containsExactly("suspend", "suspend");
    }

    @Test
    void namesTheCallThatKeepsItFromBeingSuspendedForLong() throws Exception {
        FutureTask<DeviceReadings> hanging = hangingMeasurement();

        now = now.plusSeconds(29);
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.longUse()).isEmpty();
        now = now.plusSeconds(1);
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.isSwitching()).isFalse();
        assertThat(provider.longUse()).contains("measure of gpu-0, in progress since 2026-11-26T03:00:00Z");

        hardware.measuring.countDown();
        assertThat(hanging.get()).isEqualTo(READINGS);
        assertThat(provider.trySuspend()).isTrue();
        assertThat(provider.longUse()).isEmpty();
    }

    @Test
    void namesTheCallThatTakesLongest() throws Exception {
        FutureTask<DeviceReadings> first = hangingMeasurement();
        now = now.plusSeconds(1);
        FutureTask<Inventory> second = new FutureTask<>(provider::inventory);
        hardware.reading = new CountDownLatch(1);
        new Thread(second).start();
        await(() -> hardware.calls.contains("inventory"));

        now = now.plusSeconds(30);

        assertThat(provider.longUse()).contains("measure of gpu-0, in progress since 2026-11-26T03:00:00Z");
        hardware.measuring.countDown();
        first.get();
        assertThat(provider.longUse()).contains("inventory, in progress since 2026-11-26T03:00:01Z");
        hardware.reading.countDown();
        second.get();
    }

    @Test
    void measuresNothingWhileItIsSuspended() throws Exception {
        DeviceMeter earlier = provider.meter();
        assertThat(provider.trySuspend()).isTrue();
        hardware.calls.clear();

        assertThat(earlier.measure(CLAIM, GPU)).isEqualTo(DeviceReadings.NONE);
        assertThat(provider.meter()).isEqualTo(DeviceMeter.NONE);
        assertThat(hardware.calls).isEmpty();
        earlier.close();
        assertThat(hardware.calls).containsExactly("close");

        provider.resume();
        assertThat(provider.meter().measure(CLAIM, GPU)).isEqualTo(READINGS);
    }

    @Test
    void aSuspendThatHangsHoldsUpNoCaller() throws Exception {
        hardware.suspending = new CountDownLatch(1);

        assertThat(provider.trySuspend()).isFalse();
        now = now.plusSeconds(30);
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.isSwitching()).isTrue();
        assertThat(provider.longUse()).contains("suspend, in progress since 2026-11-26T03:00:00Z");
        assertThat(provider.tryResume()).as("before it has ended").isFalse();

        hardware.suspending.countDown();
        await(provider::trySuspend);
        assertThat(hardware.calls).containsExactly("suspend");
        assertThat(provider.longUse()).isEmpty();
        assertThat(provider.isSwitching()).isFalse();
    }

    @Test
    void aMaintenanceThatEndsWhileItSuspendsResumesIt() throws Exception {
        hardware.suspending = new CountDownLatch(1);
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.tryResume()).isFalse();

        hardware.suspending.countDown();
        await(provider::tryResume);

        assertThat(hardware.calls).containsExactly("suspend", "resume");
    }

    @Test
    void aResumeThatHangsHoldsUpNoCaller() throws Exception {
        assertThat(provider.trySuspend()).isTrue();
        hardware.resuming = new CountDownLatch(1);

        assertThat(provider.tryResume()).isFalse();
        now = now.plusSeconds(30);
        assertThat(provider.tryResume()).isFalse();
        assertThat(provider.longUse()).contains("resume, in progress since 2026-11-26T03:00:00Z");
        assertThat(provider.trySuspend()).as("in a next maintenance").isFalse();

        hardware.resuming.countDown();
        await(provider::tryResume);
        assertThat(hardware.calls).containsExactly("suspend", "resume");
    }

    @Test
    void aSuspendOrAResumeThatFailsIsTriedAgain() throws Exception {
        hardware.failure = new IllegalStateException("a file is open");
        assertThatThrownBy(provider::trySuspend).isSameAs(hardware.failure);
        assertThat(hardware.calls).containsExactly("suspend");

        hardware.failure = null;

        assertThat(provider.trySuspend()).isTrue();
        assertThat(provider.trySuspend()).isTrue();
        assertThat(hardware.calls).containsExactly("suspend", "suspend");

        hardware.failure = new IllegalStateException("no device");
        assertThatThrownBy(provider::tryResume).isSameAs(hardware.failure);
        assertThat(provider.trySuspend()).as("it still is").isTrue();

        hardware.failure = null;

        assertThat(provider.tryResume()).isTrue();
        assertThat(provider.tryResume()).isTrue();
        assertThat(hardware.calls).containsExactly("suspend", "suspend", "resume", "resume");
    }

    @Test
    void hasTheInventoryThatWasReadLastWhileItIsSuspendedAndIsResumedByAClaim() throws Exception {
        assertThat(provider.trySuspend()).isTrue();

        assertThat(provider.inventory()).isSameAs(hardware.inventory);
        assertThat(hardware.calls).containsExactly("suspend");

        hardware.calls.clear();

        provider.unprepare(CLAIM, null);

        assertThat(hardware.calls).containsExactly("resume", "unprepare");
        assertThat(provider.tryResume()).isTrue();
        assertThat(hardware.calls).hasSize(2);
    }

    @Test
    void isSuspendedWithoutAnInventory() throws Exception {
        SuspendableProvider broken = new SuspendableProvider(hardware, () -> now);
        hardware.failure = new IllegalStateException("no device");
        assertThatThrownBy(broken::inventory).isSameAs(hardware.failure);
        hardware.failure = null;
        hardware.calls.clear();

        assertThat(broken.trySuspend()).isTrue();

        assertThatThrownBy(broken::inventory).hasMessageContaining("run `maintenance off`");
        assertThat(hardware.calls).containsExactly("suspend");
        assertThat(broken.tryResume()).isTrue();
        assertThat(broken.inventory()).isSameAs(hardware.inventory);
    }
}
