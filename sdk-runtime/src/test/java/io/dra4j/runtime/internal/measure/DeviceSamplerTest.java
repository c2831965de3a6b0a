// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.measure;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.claim.ClaimPreparation.ClaimInUse;
import io.dra4j.runtime.internal.observe.DeviceMetric;
import io.dra4j.runtime.internal.observe.DeviceSample;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
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
import org.junit.jupiter.api.Timeout;

/** Devices of claims, scrape by scrape, as device-samples.txt says. */
@Timeout(30)
class DeviceSamplerTest implements ScenarioSteps {

    private final List<ClaimInUse> claims = new ArrayList<>();
    private final AtomicLong time = new AtomicLong(); // beside the true one, which timeouts need
    private final Measured provider = new Measured();
    private final DeviceSampler sampler =
            new DeviceSampler(provider, () -> List.copyOf(claims), Meters.none(), this::nanos);

    private CountDownLatch latch = new CountDownLatch(0);

    private long nanos() {
        return System.nanoTime() + time.get();
    }

    private void pass(Duration duration) {
        time.addAndGet(duration.toNanos());
    }

    /** A provider whose devices have values as long as they do not hang. */
    private final class Measured extends ProviderWithoutClaims {
        final Map<String, DeviceReadings> values = new ConcurrentHashMap<>();
        final Map<String, CountDownLatch> hanging = new ConcurrentHashMap<>();
        final ConcurrentLinkedQueue<String> measured = new ConcurrentLinkedQueue<>();
        final Semaphore closed = new Semaphore(0);
        final Semaphore returned = new Semaphore(0);
        volatile @Nullable CountDownLatch opening;
        volatile Duration took = Duration.ZERO;

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
            pass(took);
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

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "works" -> works(words[1], Double.parseDouble(text));
            case "has-power-only" ->
                provider.values.put(
                        words[1],
                        DeviceReadings.builder().value(DeviceMeasure.POWER, 80).build());
            case "hold" -> hold(words[1], Stream.of(words).skip(2).toArray(String[]::new));
            case "release" -> claims.clear();
            case "advance" -> pass(Duration.parse("PT" + words[1]));
            case "measure-takes" -> provider.took = Duration.parse("PT" + words[1]);
            case "hang" -> provider.hanging.put(words[1], latch = new CountDownLatch(1));
            case "meter-hangs" -> provider.opening = latch = new CountDownLatch(1);
            case "hang-ends" -> {
                provider.hanging.clear();
                latch.countDown();
                assertThat(provider.returned.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            }
            case "meter-opens-and-is-closed" -> {
                provider.opening = null;
                latch.countDown();
                assertThat(provider.closed.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            }
            case "close" -> sampler.close();
            case "sampled" -> assertThat(list(withValues())).isEqualTo(text);
            case "sampled-at-once" -> {
                long before = System.nanoTime();
                assertThat(list(withValues())).isEqualTo(text);
                assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofMillis(900));
            }
            case "await-sampled" -> {
                while (!list(withValues()).equals(text)) { // until the thread has said so
                    pass(Duration.ofSeconds(6));
                }
            }
            case "shown" -> assertThat(sampled(words[1]).toString()).contains(text.split(" \\| "));
            case "uuid" -> assertThat(sampled(words[1]).uuid()).isEqualTo(text);
            case "values" ->
                assertThat(list(sampled(words[1]).values().keySet().stream())).isEqualTo(text);
            case "idle" ->
                assertNumber(sampled("gpu-0").values().get(DeviceMetric.IDLE).intValue(), words, text);
            case "measured" -> assertThat(list(provider.measured.stream())).isEqualTo(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** Returns the devices that have values now. */
    private Stream<String> withValues() {
        return sampler.sample().stream()
                .filter(sample -> !sample.values().isEmpty())
                .map(DeviceSample::device);
    }

    @Scenarios("device-samples.txt")
    void aDeviceIsMeasuredWhenItIsScraped(String scenario) throws Exception {
        play(scenario);
    }
}
