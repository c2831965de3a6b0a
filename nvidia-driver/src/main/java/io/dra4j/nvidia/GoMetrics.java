// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The metrics of NVIDIA's driver by its names, next to those of the runtime: a registry that is
 * given what the runtime measures, and records it again.
 *
 * @see <a href="https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/tree/main/pkg/metrics">The
 *     names</a>
 */
final class GoMetrics extends SimpleMeterRegistry {

    private static final String CALLS = "dra4j.call.duration";
    private static final String CLAIMS = "dra4j.claims";

    /** From 50 ms, each twice the one before. */
    private static final Duration[] BUCKETS = IntStream.range(0, 9)
            .mapToObj(each -> Duration.ofMillis(50L << each))
            .toArray(Duration[]::new);

    private final Map<String, Operation> operations;

    /** What is recorded of prepare, or of unprepare. */
    private record Operation(Counter requests, Timer duration, Counter errors) {}

    private GoMetrics(Map<String, Operation> operations) {
        this.operations = Map.copyOf(operations);
        config().meterFilter(MeterFilter.denyUnless(id -> Set.of(CALLS, CLAIMS).contains(id.getName())));
    }

    /** Adds the metrics to those that are shown. */
    static void addTo(CompositeMeterRegistry shown, String driver, String node, Supplier<List<HeldClaim>> held) {
        Map<String, Operation> operations = new HashMap<>();
        Map.of("prepare", Phase.PREPARING, "unprepare", Phase.UNPREPARING).forEach((name, phase) -> {
            Tags own = Tags.of("driver", driver, "operation", name);
            operations.put(
                    name,
                    new Operation(
                            Counter.builder("nvidia.dra.requests").tags(own).register(shown),
                            Timer.builder("nvidia.dra.request.duration")
                                    .serviceLevelObjectives(BUCKETS)
                                    .tags(own)
                                    .register(shown),
                            Counter.builder("nvidia.dra.node." + name + ".errors")
                                    .tags("driver", driver, "error_type", name + "_devices")
                                    .register(shown)));
            Gauge.builder(
                            "nvidia.dra.requests.inflight",
                            () -> held.get().stream()
                                    .filter(claim -> claim.phase() == phase)
                                    .count())
                    .tags(own)
                    .register(shown);
        });
        for (String type : List.of("gpu", "mig", "vfio", "unknown")) {
            Gauge.builder("nvidia.dra.prepared.devices", () -> prepared(held.get(), type))
                    .tags("driver", driver, "node", node, "device_type", type)
                    .register(shown);
        }
        shown.add(new GoMetrics(operations));
    }

    private static long prepared(List<HeldClaim> held, String type) {
        return held.stream()
                .filter(claim -> claim.phase() == Phase.PREPARED)
                .flatMap(claim -> claim.devices().stream())
                .filter(device -> type(device).equals(type))
                .count();
    }

    private static String type(HeldDevice device) {
        String name = device.device().value();
        if (name.startsWith("gpu-vfio-")) {
            return "vfio";
        }
        if (name.contains("-mig-")) {
            return "mig";
        }
        return name.matches("gpu-[0-9]+") ? "gpu" : "unknown";
    }

    @Override
    protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
        Operation operation = operations.get(String.valueOf(id.getTag("operation")));
        if (operation == null) {
            return super.newTimer(id, config, pauses);
        }
        return new CumulativeTimer(id, clock, config, pauses, getBaseTimeUnit(), false) {
            @Override
            protected void recordNonNegative(long amount, TimeUnit unit) {
                super.recordNonNegative(amount, unit);
                operation.requests().increment();
                operation.duration().record(amount, unit);
            }
        };
    }

    @Override
    protected Counter newCounter(Meter.Id id) {
        Operation operation = operations.get(String.valueOf(id.getTag("operation")));
        if (operation == null || !"error".equals(id.getTag("result"))) {
            return super.newCounter(id);
        }
        return new CumulativeCounter(id) {
            @Override
            public void increment(double amount) {
                super.increment(amount);
                operation.errors().increment(amount);
            }
        };
    }
}
