// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records measurements of the other parts of a driver.
 *
 * <p>Measurements go to a composite registry of Micrometer in that of the host, which passes them on to those that are
 * in it; in an empty one, measuring costs next to nothing. A metric has a value for each of its
 * labels, in their order. Thread-safe, and no method throws for values of run time.
 */
public final class Meters implements AutoCloseable {

    /** From a prepare without hardware up to the kubelet's timeout. */
    private static final Duration[] BUCKETS =
            List.of(1, 3, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 45_000).stream()
                    .map(Duration::ofMillis)
                    .toArray(Duration[]::new);

    /** From a claim that finds its devices at once up to one that waits for a day. */
    private static final Duration[] LATENCY_BUCKETS =
            List.of(1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400).stream()
                    .map(Duration::ofSeconds)
                    .toArray(Duration[]::new);

    private final CompositeMeterRegistry shown;
    private final CompositeMeterRegistry registry = new CompositeMeterRegistry();
    private final Tags own;
    private volatile Supplier<List<DeviceSample>> samples = List::of;
    private volatile @Nullable Supplier<ListedClaims> claims;

    Meters(CompositeMeterRegistry shown, String driver, String node) {
        this(shown, Tags.of("driver", driver, "node", node));
    }

    private Meters(CompositeMeterRegistry shown, Tags own) {
        this.shown = shown;
        this.own = own;
        registry.add(shown);
    }

    /**
     * Makes meters in Micrometer's global registry, where a host has its own and a provider may
     * count, too.
     */
    public static Meters global(String driver, String node) {
        return new Meters(Metrics.globalRegistry, driver, node);
    }

    /** Makes meters of a process that is on no node in particular, in a registry of its own. */
    public static Meters ofCluster(String driver) {
        return new Meters(new CompositeMeterRegistry(), Tags.of("driver", driver));
    }

    /** Makes meters whose measurements are discarded. */
    public static Meters none() {
        return new Meters(new CompositeMeterRegistry(), "none", "none");
    }

    public void count(Metric metric, String... values) {
        count(metric, 1, values);
    }

    public void count(Metric metric, long times, String... values) {
        Counter.builder(metric.meterName())
                .description(metric.meaning())
                .tags(tags(Metric.Kind.COUNTER, metric, values))
                .register(registry)
                .increment(times);
    }

    public void time(Metric metric, Duration took, String... values) {
        Timer.builder(metric.meterName())
                .description(metric.meaning())
                .serviceLevelObjectives(metric == Metric.CLAIM_LATENCY ? LATENCY_BUCKETS : BUCKETS)
                .tags(tags(Metric.Kind.TIMER, metric, values))
                .register(registry)
                .record(took);
    }

    /**
     * Adds a gauge, which is read when it is scraped.
     *
     * @param value returns the present value, on any thread
     */
    public void watch(Metric metric, Supplier<Number> value, String... values) {
        Gauge.builder(metric.meterName(), value)
                .description(metric.meaning())
                .baseUnit(metric.unit().isEmpty() ? null : metric.unit())
                .tags(tags(Metric.Kind.GAUGE, metric, values))
                .register(registry);
    }

    /**
     * Shows the devices of claims, which are measured when they are scraped.
     *
     * @param measured measures them, on any thread
     */
    public void watchDevices(Supplier<List<DeviceSample>> measured) {
        samples = measured;
    }

    /**
     * Shows the claims that wait, from the next scrape that is set up on.
     *
     * @param listed lists them, on any thread
     */
    public void watchClaims(Supplier<ListedClaims> listed) {
        claims = listed;
    }

    /** Returns what lists the claims that wait; empty if they are not shown. */
    Optional<Supplier<ListedClaims>> claims() {
        return Optional.ofNullable(claims);
    }

    /** Measures the devices of claims. */
    List<DeviceSample> devices() {
        return samples.get();
    }

    /**
     * Returns the labels of all metrics, which are the driver's and, if there is one, the node's.
     */
    Tags own() {
        return own;
    }

    /** Returns whether a meter has the labels of another driver, which shows it itself. */
    boolean areOfAnother(Meter.Id meter) {
        return own.stream().allMatch(tag -> meter.getTag(tag.getKey()) != null)
                && !own.stream().allMatch(meter.getTags()::contains);
    }

    private Tags tags(Metric.Kind kind, Metric metric, String... values) {
        List<String> labels = metric.labels();
        if (metric.kind() != kind || labels.size() != values.length) {
            throw new IllegalArgumentException(metric + " is a " + metric.kind() + " with the labels " + labels);
        }
        Tags tags = own;
        for (int i = 0; i < values.length; i++) {
            tags = tags.and(labels.get(i), values[i]);
        }
        return tags;
    }

    /** Returns the registry that shows these meters, and those of the host and of other drivers. */
    CompositeMeterRegistry shown() {
        return shown;
    }

    /** Removes the meters from what shows them, which is the host's, too, and stays. */
    @Override
    public void close() {
        registry.getMeters().forEach(registry::remove);
        registry.remove(shown);
    }
}
