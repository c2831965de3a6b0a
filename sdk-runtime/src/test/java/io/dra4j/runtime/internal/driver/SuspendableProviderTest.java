// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SuspendableProviderTest {

    private static final HeldDevice GPU =
            HeldDevice.builder("gpu", new PoolName("node-a"), new DeviceName("gpu-0")).build();
    private static final HeldClaim CLAIM =
            HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
                    .phase(HeldClaim.Phase.PREPARED)
                    .device(GPU)
                    .build();
    private static final DeviceReadings READINGS =
            DeviceReadings.builder().value(DeviceMeasure.POWER, 80).build();

    private final Hardware hardware = new Hardware();
    private volatile Instant now = Instant.parse("2026-11-26T03:00:00Z");
    private final SuspendableProvider provider = new SuspendableProvider(hardware, () -> now);

    private final Logger logger = (Logger) LoggerFactory.getLogger(SuspendableProvider.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void read() throws Exception {
        provider.inventory();
        hardware.calls.clear();
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(log);
    }

    /** A provider that records its calls. */
    private static final class Hardware implements DeviceProvider {
        final List<String> calls = new ArrayList<>();
        final CountDownLatch measuring = new CountDownLatch(1);
        final CountDownLatch answered = new CountDownLatch(1);
        boolean hangs;

        @Override
        public DeviceMeter meter() {
            calls.add("meter");
            return new DeviceMeter() {
                @Override
                public DeviceReadings measure(HeldClaim claim, HeldDevice device)
                        throws InterruptedException {
                    calls.add("measure");
                    measuring.countDown();
                    if (hangs) {
                        answered.await();
                    }
                    return READINGS;
                }

                @Override
                public void close() {
                    calls.add("close");
                }
            };
        }

        @Override
        public Inventory inventory() {
            return Inventory.of();
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {}
    }

    @Test
    void passesTheProvidersMeterOn() throws Exception {
        try (DeviceMeter meter = provider.meter()) {
            assertThat(meter.measure(CLAIM, GPU)).isEqualTo(READINGS);
        }

        assertThat(hardware.calls).containsExactly("meter", "measure", "close");
    }

    @Test
    void namesTheCallThatKeepsItFromBeingSuspendedForLong() throws Exception {
        hardware.hangs = true;
        DeviceMeter meter = provider.meter();
        FutureTask<DeviceReadings> hanging = new FutureTask<>(() -> meter.measure(CLAIM, GPU));
        new Thread(hanging).start();
        hardware.measuring.await();

        now = now.plusSeconds(29);
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.longUse()).isEmpty();
        now = now.plusSeconds(1);
        assertThat(log.list).isEmpty();
        assertThat(provider.trySuspend()).isFalse();
        assertThat(provider.trySuspend()).isFalse();
        assertThat(log.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage, STRING)
                .contains("measure of gpu-0, in progress since 2026-11-26T03:00:00Z");
        assertThat(provider.longUse())
                .contains("measure of gpu-0, in progress since 2026-11-26T03:00:00Z");

        hardware.answered.countDown();
        assertThat(hanging.get()).isEqualTo(READINGS);
        assertThat(provider.trySuspend()).isTrue();
        assertThat(provider.longUse()).isEmpty();
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
}
