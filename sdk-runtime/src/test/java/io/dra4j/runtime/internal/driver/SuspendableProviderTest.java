// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;

/** Hardware that is given back and used again, call by call, as suspendable-provider.txt says. */
class SuspendableProviderTest implements ScenarioSteps {

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
    private final Instant now = Instant.parse("2026-11-26T03:00:00Z"); // on a clock that stands still
    private volatile long nanos;
    private SuspendableProvider provider = new SuspendableProvider(hardware, () -> now, () -> nanos);
    private DeviceMeter meter = DeviceMeter.NONE;
    private FutureTask<?> hanging = new FutureTask<>(() -> null);
    private Object result;
    private Inventory first; // equal ones are in memory once

    @BeforeEach
    void read() throws Exception {
        first = provider.inventory();
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

        /** Lets calls of a kind wait until they are released. */
        void hang(String calls) {
            CountDownLatch latch = new CountDownLatch(1);
            switch (calls) {
                case "measure" -> measuring = latch;
                case "inventory" -> reading = latch;
                case "suspend" -> suspending = latch;
                default -> resuming = latch;
            }
        }

        void release() {
            List.of(measuring, reading, suspending, resuming).forEach(CountDownLatch::countDown);
        }

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
            return new Inventory(inventory.pools());
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {
            calls.add("unprepare");
        }
    }

    static void await(Callable<Boolean> looked) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!looked.call()) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
    }

    /** Makes a call that hangs, on a thread of its own. */
    private <T> void hang(String call, Callable<T> action, T returns) throws Exception {
        hardware.hang(call);
        result = returns;
        hanging = new FutureTask<>(action);
        new Thread(hanging).start();
        await(() -> hardware.calls.contains(call));
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "hang" -> hardware.hang(words[1]);
            case "measure-hangs" -> {
                DeviceMeter own = provider.meter();
                hang("measure", () -> own.measure(CLAIM, GPU), READINGS);
            }
            case "inventory-hangs" -> hang("inventory", provider::inventory, first);
            case "release" -> hardware.release();
            case "measure-ends" -> {
                hardware.measuring.countDown();
                await(() -> !provider.longUse().orElse("").startsWith("measure"));
            }
            case "hardware-fails" -> hardware.failure = new IllegalStateException("a file is open");
            case "hardware-works" -> hardware.failure = null;
            case "advance" -> nanos += Duration.parse("PT" + words[1]).toNanos();
            case "suspended" -> assertThat(provider.trySuspend()).isEqualTo(text.equals("yes"));
            case "resumed" -> assertThat(provider.tryResume()).isEqualTo(text.equals("yes"));
            case "switching" -> assertThat(provider.isSwitching()).isEqualTo(text.equals("yes"));
            case "suspend-fails" -> assertThatThrownBy(provider::trySuspend).isSameAs(hardware.failure);
            case "resume-fails" -> assertThatThrownBy(provider::tryResume).isSameAs(hardware.failure);
            case "await-suspended" -> await(provider::trySuspend);
            case "await-resumed" -> await(provider::tryResume);
            case "await-no-switch" -> await(() -> !provider.isSwitching());
            case "unprepare" -> provider.unprepare(CLAIM, null);
            case "meter" -> meter = provider.meter();
            case "no-meter" -> assertThat(provider.meter()).isEqualTo(DeviceMeter.NONE);
            case "measured" ->
                assertThat(meter.measure(CLAIM, GPU)).isEqualTo(text.equals("yes") ? READINGS : DeviceReadings.NONE);
            case "close-meter" -> meter.close();
            case "never-read" -> provider = new SuspendableProvider(hardware, () -> now, () -> nanos);
            case "read" -> first = provider.inventory();
            case "inventory" -> assertThat(provider.inventory()).isSameAs(first);
            case "inventory-fails" -> assertThatThrownBy(provider::inventory).hasMessageContaining(text);
            case "long-use" -> assertThat(provider.longUse().orElse("none")).isEqualTo(text);
            case "calls" -> assertThat(list(hardware.calls.stream())).isEqualTo(text);
            case "forget-calls" -> hardware.calls.clear();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("suspendable-provider.txt")
    void theHardwareIsGivenBackAndUsedAgain(String scenario) throws Exception {
        play(scenario);
        hardware.release();
        hanging.run();
        assertThat(hanging.get()).isEqualTo(result);
    }
}
