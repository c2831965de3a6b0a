// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.ProviderWithoutClaims;
import io.dra4j.runtime.internal.claim.ClaimPreparation.ClaimInUse;
import io.dra4j.runtime.internal.observe.DeviceMetric;
import io.dra4j.runtime.internal.observe.DeviceSample;
import io.dra4j.runtime.internal.observe.Meters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DeviceSamplerTest {

    private final List<ClaimInUse> claims = new ArrayList<>();
    private final AtomicLong time = new AtomicLong(); // beside the true one, which timeouts need
    private final Measured provider = new Measured();
    private final DeviceSampler sampler =
            new DeviceSampler(provider, () -> List.copyOf(claims), Meters.none(), this::nanos);

    private long nanos() {
        return System.nanoTime() + time.get();
    }

    private void pass(Duration duration) {
        time.addAndGet(duration.toNanos());
    }

    /** A provider whose devices have values as long as they do not hang. */
    private static final class Measured extends ProviderWithoutClaims {
        final Map<String, DeviceReadings> values = new ConcurrentHashMap<>();
        final Map<String, CountDownLatch> hanging = new ConcurrentHashMap<>();
        final ConcurrentLinkedQueue<String> measured = new ConcurrentLinkedQueue<>();
        final Semaphore closed = new Semaphore(0);
        final Semaphore returned = new Semaphore(0);
        volatile @Nullable CountDownLatch opening;

        @Override
        public DeviceMeter meter() throws Exception {
            CountDownLatch latch = opening;
            if (latch != null) {
                latch.await();
            }
            return new DeviceMeter() {
                @Override
                public DeviceReadings measure(HeldClaim claim, HeldDevice device) throws Exception {
                    return measured(device.device().value());
                }

                @Override
                public void close() {
                    closed.release();
                }
            };
        }

        private DeviceReadings measured(String device) throws Exception {
            measured.add(device);
            CountDownLatch latch = hanging.get(device);
            if (latch != null) {
                latch.await();
                returned.release();
            }
            if (!values.containsKey(device)) {
                throw new IllegalStateException(device + " is broken");
            }
            return values.get(device);
        }
    }

    private void hold(String claim, String... devices) {
        List<HeldDevice> held = Stream.of(devices)
                .map(name -> HeldDevice.builder("gpu", new PoolName("node-a"), new DeviceName(name))
                        .physicalId("serial-" + name)
                        .build())
                .toList();
        claims.add(new ClaimInUse(
                HeldClaim.builder(new ClaimRef("ns", claim, "uid-" + claim))
                        .phase(HeldClaim.Phase.PREPARED)
                        .devices(held)
                        .build(),
                List.of("pod-" + claim)));
    }

    private void works(String device, double utilization) {
        provider.values.put(
                device,
                DeviceReadings.builder()
                        .uuid("GPU-" + device)
                        .value(DeviceMeasure.UTILIZATION, utilization)
                        .build());
    }

    private DeviceSample sampled(String device) {
        return sampler.sample().stream()
                .filter(sample -> sample.device().equals(device))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theFirstScrapeAfterAPrepareHasAllLabelsAndValues() {
        works("gpu-0", 0.5);
        works("gpu-1", 0.25);
        hold("a", "gpu-0");
        sampler.sample();
        hold("b", "gpu-1"); // while the values of the first are fresh

        DeviceSample sample = sampled("gpu-1");

        assertThat(sample.namespace()).isEqualTo("ns");
        assertThat(sample.claim()).isEqualTo("b");
        assertThat(sample.claimUid()).isEqualTo("uid-b");
        assertThat(sample.pods()).containsExactly("pod-b");
        assertThat(sample.request()).isEqualTo("gpu");
        assertThat(sample.pool()).isEqualTo("node-a");
        assertThat(sample.uuid()).isEqualTo("GPU-gpu-1");
        assertThat(sample.values()).containsEntry(DeviceMetric.UTILIZATION, 0.25);
    }

    @Test
    void scrapesThatComeTogetherMeasureADeviceOnceUntilItsClaimEnds() {
        works("gpu-0", 0.5);
        hold("a", "gpu-0");

        sampler.sample();
        sampler.sample();
        assertThat(provider.measured).containsExactly("gpu-0");

        pass(Duration.ofSeconds(6));
        sampler.sample();
        assertThat(provider.measured).containsExactly("gpu-0", "gpu-0");

        claims.clear();

        assertThat(sampler.sample()).isEmpty();
    }

    @Test
    void aDeviceThatHangsCostsItsOwnValuesAlone() throws Exception {
        works("gpu-0", 1);
        works("gpu-1", 1);
        works("gpu-2", 1);
        hold("a", "gpu-0", "gpu-1", "gpu-2");
        assertThat(sampled("gpu-1").values()).isNotEmpty();
        CountDownLatch hangs = new CountDownLatch(1);
        provider.hanging.put("gpu-1", hangs);
        pass(Duration.ofSeconds(6));

        assertThat(sampler.sample())
                .filteredOn(sample -> !sample.values().isEmpty())
                .extracting(DeviceSample::device)
                .containsExactly("gpu-0", "gpu-2");
        pass(Duration.ofSeconds(6));
        long before = System.nanoTime();
        assertThat(sampled("gpu-1").values()).isEmpty();
        assertThat(sampled("gpu-1").uuid()).as("labels stay").isEqualTo("GPU-gpu-1");
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .as("its call is waited for once")
                .isLessThan(Duration.ofMillis(900));

        provider.hanging.clear();
        hangs.countDown();
        assertThat(provider.returned.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        while (sampled("gpu-1").values().isEmpty()) { // until the thread has said so
            pass(Duration.ofSeconds(6));
        }
    }

    @Test
    void aDeviceThatCanNotBeMeasuredKeepsItsLabelsAndHasNoValue() {
        works("gpu-1", 1);
        hold("a", "gpu-0", "gpu-1");

        assertThat(sampled("gpu-0").values()).isEmpty();
        assertThat(sampled("gpu-0").uuid()).isEqualTo("serial-gpu-0");
        assertThat(sampled("gpu-1").values()).isNotEmpty();
        assertThat(provider.measured).as("it is not tried again at once").hasSize(2);
    }

    @Test
    void aMeterThatHangsIsLeftBehindAndClosedWhenItOpens() throws Exception {
        works("gpu-0", 1);
        hold("a", "gpu-0");
        CountDownLatch hangs = new CountDownLatch(1);
        provider.opening = hangs;

        assertThat(sampled("gpu-0").values()).isEmpty();
        long before = System.nanoTime();
        assertThat(sampled("gpu-0").values()).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofMillis(900));

        provider.opening = null;
        hangs.countDown();
        assertThat(provider.closed.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        assertThat(sampled("gpu-0").values()).isNotEmpty();
    }

    @Test
    void idleTimeCountsFromTheLastScrapeThatFoundItAtWork() {
        works("gpu-0", 0);
        hold("a", "gpu-0");
        assertThat(idle("gpu-0")).isBetween(0.0, 5.0);
        pass(Duration.ofMinutes(10));
        assertThat(idle("gpu-0")).isBetween(600.0, 605.0);

        works("gpu-0", 0.01);
        pass(Duration.ofSeconds(6));
        assertThat(idle("gpu-0")).isLessThan(5);
        works("gpu-0", 0);
        pass(Duration.ofMinutes(1));
        assertThat(idle("gpu-0")).isBetween(60.0, 65.0);
    }

    private double idle(String device) {
        return sampled(device).values().get(DeviceMetric.IDLE);
    }

    @Test
    void withoutAUtilizationThereIsNoIdleTime() {
        provider.values.put(
                "gpu-0", DeviceReadings.builder().value(DeviceMeasure.POWER, 80).build());
        hold("a", "gpu-0");

        assertThat(sampled("gpu-0").values()).containsOnlyKeys(DeviceMetric.POWER);
    }

    @Test
    void nothingIsMeasuredOnceItIsClosed() {
        works("gpu-0", 1);
        hold("a", "gpu-0");
        sampler.close();

        assertThat(sampler.sample()).isEmpty();
        assertThat(provider.measured).isEmpty();
    }

    @Test
    void everyMeasureHasItsMetric() {
        assertThat(DeviceMetric.values())
                .extracting(Enum::name)
                .containsAll(Stream.of(DeviceMeasure.values()).map(Enum::name).toList());
    }
}
