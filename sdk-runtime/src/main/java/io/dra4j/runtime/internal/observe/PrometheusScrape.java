// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Shows a driver's meters in the formats of Prometheus, with metrics of the JVM, and without those of other drivers in
 * the JVM.
 *
 * <p>The format is OpenMetrics if the request accepts that, and the older text format otherwise.
 */
final class PrometheusScrape implements AutoCloseable {

    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    private final CompositeMeterRegistry source;
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Lock building = new ReentrantLock();
    private @Nullable JvmGcMetrics collections; // guarded by this
    private boolean isClosed; // guarded by this

    record Page(String type, byte[] body) {}

    PrometheusScrape(Meters meters) {
        this.source = meters.endpoints();
        prometheus.config().meterFilter(MeterFilter.deny(meters::areOfAnother));
        Labels own = labels(meters.own());
        prometheus.getPrometheusRegistry().register(new DeviceCollector(own, meters));
        meters.claims()
                .ifPresent(claims -> prometheus.getPrometheusRegistry().register(new ClaimCollector(own, claims)));
        source.add(prometheus);
    }

    /** Created with the first request, since it would slow down a start; earlier collections are not counted. */
    private synchronized void addProcess() {
        if (collections == null && !isClosed) {
            JvmGcMetrics listening = new JvmGcMetrics();
            List<MeterBinder> ofTheProcess = List.of(
                    new JvmMemoryMetrics(),
                    new JvmThreadMetrics(),
                    new FileDescriptorMetrics(),
                    new ProcessorMetrics(),
                    new UptimeMetrics(),
                    listening);
            ofTheProcess.forEach(binder -> binder.bindTo(prometheus));
            collections = listening;
        }
    }

    private static Labels labels(Tags tags) {
        Labels labels = Labels.EMPTY;
        for (Tag tag : tags) {
            labels = labels.add(tag.getKey(), tag.getValue());
        }
        return labels;
    }

    /** Returns the page for a request with this {@code Accept} header; other requests wait meanwhile. */
    Page page(String accept) throws IOException {
        addProcess();
        String type = accept.contains("application/openmetrics-text") ? OPEN_METRICS : TEXT;
        building.lock(); // with a thousand devices, a page takes megabytes
        try {
            ByteArrayOutputStream page = new ByteArrayOutputStream();
            prometheus.scrape(page, type);
            return new Page(type, page.toByteArray());
        } finally {
            building.unlock();
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        source.remove(prometheus);
        if (collections != null) {
            collections.close();
        }
        prometheus.close();
    }

    /**
     * Shows pending claims in the formats of Prometheus.
     *
     * <p>They are not Micrometer meters: classes come and go, and are counted once for a scrape.
     */
    private record ClaimCollector(Labels own, Supplier<ListedClaims> claims) implements MultiCollector {

        private static final double MILLIS = 1000;

        @Override
        public MetricSnapshots collect() {
            ListedClaims listed = claims.get();
            List<MetricSnapshot> shown = new ArrayList<>();
            shown.add(failures(listed.failures()));
            if (!listed.pending().isEmpty()) {
                shown.add(gauge(ClaimMetric.PENDING_CLAIMS, listed, ListedClaims.OfClass::count));
                shown.add(gauge(
                        ClaimMetric.PENDING_CLAIM_AGE,
                        listed,
                        claims -> claims.oldest().toMillis() / MILLIS));
            }
            return new MetricSnapshots(shown);
        }

        private MetricSnapshot failures(long failures) {
            return CounterSnapshot.builder()
                    .name(ClaimMetric.LIST_FAILURES.baseName())
                    .help(ClaimMetric.LIST_FAILURES.meaning())
                    .dataPoint(CounterDataPointSnapshot.builder()
                            .labels(own)
                            .value(failures)
                            .build())
                    .build();
        }

        private MetricSnapshot gauge(
                ClaimMetric metric, ListedClaims listed, ToDoubleFunction<ListedClaims.OfClass> value) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(metric.baseName()).help(metric.meaning());
            for (ListedClaims.OfClass claims : listed.pending()) {
                List<String> values = List.of(claims.deviceClass(), Boolean.toString(claims.forPod()));
                gauge.dataPoint(GaugeDataPointSnapshot.builder()
                        .labels(own.merge(Labels.of(metric.labels(), values)))
                        .value(value.applyAsDouble(claims))
                        .build());
            }
            return gauge.build();
        }
    }

    /**
     * Shows the devices of claims in the formats of Prometheus.
     *
     * <p>They are not Micrometer meters: devices come and go with claims, and are measured once for a
     * scrape, all together.
     */
    private record DeviceCollector(Labels own, Meters meters) implements MultiCollector {

        private static final String INFO = "_info";

        /** A sample with the labels of its metrics, which are built once for all of them. */
        private record Labelled(DeviceSample sample, Labels ofDevice, Labels ofParent) {}

        @Override
        public MetricSnapshots collect() {
            List<DeviceSample> samples = meters.devices();
            List<MetricSnapshot> shown = new ArrayList<>();
            if (!samples.isEmpty()) {
                shown.add(info(samples));
            }
            List<Labelled> labelled = samples.stream()
                    .map(sample -> new Labelled(sample, labels(sample, "device"), labels(sample, "parent")))
                    .toList();
            for (DeviceMetric metric : DeviceMetric.values()) {
                Map<Labels, Double> values = values(metric, labelled);
                if (!values.isEmpty()) {
                    shown.add(metric.isCounter() ? counter(metric, values) : gauge(metric, values));
                }
            }
            return new MetricSnapshots(shown);
        }

        private MetricSnapshot info(List<DeviceSample> samples) {
            Map<Labels, InfoDataPointSnapshot> points = new LinkedHashMap<>();
            for (DeviceSample sample : samples) {
                for (List<String> values : sample.infoLabels()) {
                    Labels labels = labels(DeviceMetric.INFO_LABELS, values);
                    points.put(
                            labels,
                            InfoDataPointSnapshot.builder().labels(labels).build());
                }
            }
            InfoSnapshot.Builder info = InfoSnapshot.builder()
                    .name(DeviceMetric.INFO.substring(0, DeviceMetric.INFO.length() - INFO.length()))
                    .help("1; the devices that claims hold, for joins");
            points.values().forEach(info::dataPoint);
            return info.build();
        }

        /** Two claims of one name may hold a device for a moment: the format allows one of them. */
        private static Map<Labels, Double> values(DeviceMetric metric, List<Labelled> samples) {
            Map<Labels, Double> values = new LinkedHashMap<>();
            for (Labelled one : samples) {
                Optional.ofNullable(one.sample.values().get(metric))
                        .ifPresent(value -> values.put(one.ofDevice, value));
                Optional.ofNullable(one.sample.parentValues().get(metric))
                        .ifPresent(value -> values.put(one.ofParent, value));
            }
            return values;
        }

        private static MetricSnapshot counter(DeviceMetric metric, Map<Labels, Double> values) {
            CounterSnapshot.Builder counter =
                    CounterSnapshot.builder().name(metric.baseName()).help(metric.meaning());
            values.forEach((labels, value) -> counter.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value)
                    .build()));
            return counter.build();
        }

        private static MetricSnapshot gauge(DeviceMetric metric, Map<Labels, Double> values) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(metric.baseName()).help(metric.meaning());
            values.forEach((labels, value) -> gauge.dataPoint(
                    GaugeDataPointSnapshot.builder().labels(labels).value(value).build()));
            return gauge.build();
        }

        private Labels labels(DeviceSample sample, String scope) {
            return labels(DeviceMetric.LABELS, sample.labels(scope));
        }

        private Labels labels(List<String> names, List<String> values) {
            return own.merge(Labels.of(names, values));
        }
    }

    /**
     * The metrics of pending claims, served by one process of the cluster: one list, from which
     * the reference page is rendered.
     *
     * <p>Each has the label {@code driver} besides its own, and no node: such a claim has none.
     */
    enum ClaimMetric {
        PENDING_CLAIMS("dra4j_pending_claims", "device_class", "for_pod"),
        PENDING_CLAIM_AGE("dra4j_pending_claim_age_seconds", "device_class", "for_pod"),
        LIST_FAILURES("dra4j_claim_list_failures_total");

        private static final String TOTAL = "_total";

        private final String prometheusName;
        private final List<String> labels;

        ClaimMetric(String prometheusName, String... labels) {
            this.prometheusName = prometheusName;
            this.labels = List.of(labels);
        }

        String prometheusName() {
            return prometheusName;
        }

        String meaning() {
            return Metric.MEANINGS.getString(prometheusName);
        }

        List<String> labels() {
            return labels;
        }

        boolean isCounter() {
            return prometheusName.endsWith(TOTAL);
        }

        /** The name without the suffix that each format adds to counters. */
        String baseName() {
            return isCounter() ? prometheusName.substring(0, prometheusName.length() - TOTAL.length()) : prometheusName;
        }
    }
}
