// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Shows claims that wait in the formats of Prometheus.
 *
 * <p>They are no meters of Micrometer: classes come and go, and are counted once for a scrape.
 */
final class ClaimCollector implements MultiCollector {

    private static final double MILLIS = 1000;

    private final Labels own;
    private final Supplier<ListedClaims> claims;

    ClaimCollector(Labels own, Supplier<ListedClaims> claims) {
        this.own = own;
        this.claims = claims;
    }

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
