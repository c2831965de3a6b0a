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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Records measurements of the other parts of a driver.
 *
 * <p>Measurements go to a composite registry of Micrometer, which passes them on to the registries in it; if it is
 * empty, measuring costs next to nothing. A metric has a value for each of its labels, in their order. Two instances of
 * a driver may share a registry: they count together, and a gauge is that of the first until it is closed. Thread-safe,
 * and no method throws because of run-time values.
 */
public final class Meters implements AutoCloseable {

    /** From a prepare without hardware up to the kubelet's timeout. */
    private static final Duration[] BUCKETS =
            List.of(1, 3, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 45_000).stream()
                    .map(Duration::ofMillis)
                    .toArray(Duration[]::new);

    /** From a claim that finds its devices immediately up to a claim that waits for a day. */
    private static final Duration[] LATENCY_BUCKETS =
            List.of(1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400).stream()
                    .map(Duration::ofSeconds)
                    .toArray(Duration[]::new);

    private static final Shown GLOBAL = Shown.in(Metrics.globalRegistry);

    private final Shown shown;
    private final Set<Meter> counted = ConcurrentHashMap.newKeySet();
    private final Map<Meter.Id, Gauge.Builder<?>> gauges = new HashMap<>();
    private final Tags own;
    private volatile CompositeMeterRegistry registry;
    private volatile Supplier<List<DeviceSample>> samples = List::of;
    private volatile @Nullable Supplier<ListedClaims> claims;

    /**
     * A registry of meters.
     *
     * @param endpoints has the registries of all endpoints, and no meters: Micrometer warns about registries that are
     *     added after meters
     * @param open the instances that have meters in it; its lock guards their gauges
     */
    record Shown(CompositeMeterRegistry registry, CompositeMeterRegistry endpoints, Set<Meters> open) {

        static Shown in(CompositeMeterRegistry registry) {
            CompositeMeterRegistry endpoints = new CompositeMeterRegistry();
            registry.add(endpoints);
            return new Shown(registry, endpoints, new HashSet<>());
        }
    }

    Meters(Shown shown, String driver, String node) {
        this(shown, Tags.of("driver", driver, "node", node));
    }

    private Meters(Shown shown, Tags own) {
        this.shown = shown;
        this.registry = shown.registry();
        this.own = own;
        synchronized (shown.open()) {
            shown.open().add(this);
        }
    }

    /** Creates meters in Micrometer's global registry, where a host has its own and a provider may add some. */
    public static Meters global(String driver, String node) {
        return new Meters(GLOBAL, driver, node);
    }

    /** Creates meters of a process that belongs to no node, in a separate registry. */
    public static Meters ofCluster(String driver) {
        return new Meters(Shown.in(new CompositeMeterRegistry()), Tags.of("driver", driver));
    }

    /** Creates meters whose measurements are discarded. */
    public static Meters none() {
        return new Meters(Shown.in(new CompositeMeterRegistry()), "none", "none");
    }

    public void count(Metric metric, String... values) {
        count(metric, 1, values);
    }

    public void count(Metric metric, long times, String... values) {
        Counter counter = Counter.builder(metric.meterName())
                .description(metric.meaning())
                .tags(tags(Metric.Kind.COUNTER, metric, values))
                .register(registry);
        counted.add(counter);
        counter.increment(times);
    }

    public void time(Metric metric, Duration took, String... values) {
        Timer timer = Timer.builder(metric.meterName())
                .description(metric.meaning())
                .serviceLevelObjectives(metric == Metric.CLAIM_LATENCY ? LATENCY_BUCKETS : BUCKETS)
                .tags(tags(Metric.Kind.TIMER, metric, values))
                .register(registry);
        counted.add(timer);
        timer.record(took);
    }

    /**
     * Adds a gauge, which is read when it is scraped.
     *
     * @param value returns the current value, on any thread
     */
    public void watch(Metric metric, Supplier<Number> value, String... values) {
        Tags tags = tags(Metric.Kind.GAUGE, metric, values);
        Meter.Id id = new Meter.Id(metric.meterName(), tags, null, metric.meaning(), Meter.Type.GAUGE);
        Gauge.Builder<?> gauge = Gauge.builder(metric.meterName(), value)
                .description(metric.meaning())
                .tags(tags);
        synchronized (shown.open()) {
            boolean isShown = shown.open().stream().anyMatch(other -> other.gauges.containsKey(id));
            gauges.putIfAbsent(id, gauge);
            if (!isShown) {
                gauge.register(registry);
            }
        }
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
     * Shows pending claims at all endpoints that are opened later.
     *
     * @param listed lists them, on any thread
     */
    public void watchClaims(Supplier<ListedClaims> listed) {
        claims = listed;
    }

    /** Returns the lister of pending claims; empty if they are not shown. */
    Optional<Supplier<ListedClaims>> claims() {
        return Optional.ofNullable(claims);
    }

    List<DeviceSample> devices() {
        return samples.get();
    }

    /** Returns the labels of all metrics, which are the driver's and, if there is one, the node's. */
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

    /** Returns where registries are added that show these meters, and those of the host and of other drivers. */
    CompositeMeterRegistry endpoints() {
        return shown.endpoints();
    }

    /** Removes the meters that no other instance has from the registry, which also belongs to the host, and stays. */
    @Override
    public void close() {
        Set<Meters> open = shown.open();
        synchronized (open) {
            registry = new CompositeMeterRegistry(); // for later measurements
            open.remove(this);
            counted.stream()
                    .filter(meter -> open.stream().noneMatch(other -> other.counted.contains(meter)))
                    .forEach(shown.registry()::remove);
            gauges.keySet().forEach(id -> {
                shown.registry().removeByPreFilterId(id);
                open.stream()
                        .flatMap(other -> Stream.ofNullable(other.gauges.get(id)))
                        .findFirst()
                        .ifPresent(gauge -> gauge.register(shown.registry()));
            });
            gauges.clear();
        }
    }
}
