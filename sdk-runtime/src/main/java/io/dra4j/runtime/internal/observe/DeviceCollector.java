// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Shows the devices of claims in the formats of Prometheus.
 *
 * <p>They are no meters of Micrometer: devices come and go with claims, and are measured once for a
 * scrape, all together.
 */
final class DeviceCollector implements MultiCollector {

    private static final String INFO = "_info";

    private final Labels own;
    private final Meters meters;

    DeviceCollector(Labels own, Meters meters) {
        this.own = own;
        this.meters = meters;
    }

    @Override
    public MetricSnapshots collect() {
        List<DeviceSample> samples = meters.devices();
        List<MetricSnapshot> shown = new ArrayList<>();
        if (!samples.isEmpty()) {
            shown.add(info(samples));
        }
        for (DeviceMetric metric : DeviceMetric.values()) {
            Map<Labels, Double> values = values(metric, samples);
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
                        labels, InfoDataPointSnapshot.builder().labels(labels).build());
            }
        }
        InfoSnapshot.Builder info = InfoSnapshot.builder()
                .name(DeviceMetric.INFO.substring(0, DeviceMetric.INFO.length() - INFO.length()))
                .help("1; the devices that claims hold, for joins");
        points.values().forEach(info::dataPoint);
        return info.build();
    }

    /** Two claims of one name may hold a device for a moment: the format allows one of them. */
    private Map<Labels, Double> values(DeviceMetric metric, List<DeviceSample> samples) {
        Map<Labels, Double> values = new LinkedHashMap<>();
        for (DeviceSample sample : samples) {
            Optional.ofNullable(sample.values().get(metric))
                    .ifPresent(value -> values.put(labels(sample, "device"), value));
            Optional.ofNullable(sample.parentValues().get(metric))
                    .ifPresent(value -> values.put(labels(sample, "parent"), value));
        }
        return values;
    }

    private static MetricSnapshot counter(DeviceMetric metric, Map<Labels, Double> values) {
        CounterSnapshot.Builder counter =
                CounterSnapshot.builder().name(metric.baseName()).help(metric.meaning());
        values.forEach((labels, value) -> counter.dataPoint(
                CounterDataPointSnapshot.builder().labels(labels).value(value).build()));
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
