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
import io.prometheus.metrics.model.snapshots.Labels;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;

/**
 * Shows a driver's meters in the formats of Prometheus, with metrics of the JVM and without those of other drivers in it.
 *
 * <p>The format is OpenMetrics if the request accepts that, and the older text format otherwise.
 */
final class PrometheusScrape implements AutoCloseable {

    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    private final CompositeMeterRegistry source;
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();

    record Page(String type, byte[] body) {}

    PrometheusScrape(Meters meters) {
        this.source = meters.endpoints();
        prometheus.config().meterFilter(MeterFilter.deny(meters::areOfAnother));
        Labels own = labels(meters.own());
        prometheus.getPrometheusRegistry().register(new DeviceCollector(own, meters));
        meters.claims()
                .ifPresent(claims -> prometheus.getPrometheusRegistry().register(new ClaimCollector(own, claims)));
        List<MeterBinder> ofTheProcess = List.of(
                collections,
                new JvmMemoryMetrics(),
                new JvmThreadMetrics(),
                new FileDescriptorMetrics(),
                new ProcessorMetrics(),
                new UptimeMetrics());
        ofTheProcess.forEach(binder -> binder.bindTo(prometheus));
        source.add(prometheus);
    }

    private static Labels labels(Tags tags) {
        Labels labels = Labels.EMPTY;
        for (Tag tag : tags) {
            labels = labels.add(tag.getKey(), tag.getValue());
        }
        return labels;
    }

    /** Returns the page for a request with such an {@code Accept} header. */
    Page page(String accept) throws IOException {
        String type = accept.contains("application/openmetrics-text") ? OPEN_METRICS : TEXT;
        ByteArrayOutputStream page = new ByteArrayOutputStream();
        prometheus.scrape(page, type);
        return new Page(type, page.toByteArray());
    }

    @Override
    public void close() {
        source.remove(prometheus);
        collections.close();
        prometheus.close();
    }
}
