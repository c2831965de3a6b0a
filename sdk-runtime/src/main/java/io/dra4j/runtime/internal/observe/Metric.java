// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.util.List;
import java.util.ResourceBundle;

/**
 * The metrics of a driver: one list, from which the reference page is rendered.
 *
 * <p>Each metric also has the labels {@code driver} and {@code node}. No label ever names a claim, a device or anything
 * else of unbounded number; {@link DeviceMetric} has the metrics of devices.
 */
public enum Metric {
    BUILD_INFO(Kind.GAUGE, "dra4j.build.info", "version"),
    KUBERNETES_RELEASE(Kind.GAUGE, "dra4j.kubernetes.release", "release", "known_as"),
    CALLS(Kind.TIMER, "dra4j.call.duration", "operation"),
    CLAIMS(Kind.COUNTER, "dra4j.claims", "operation", "result"),
    CLAIM_LATENCY(Kind.TIMER, "dra4j.claim.latency", "device_class"),
    HELD_CLAIMS(Kind.GAUGE, "dra4j.held.claims", "phase"),
    HELD_DEVICES(Kind.GAUGE, "dra4j.held.devices"),
    PUBLISHED_SLICES(Kind.GAUGE, "dra4j.published.slices"),
    UNPUBLISHED_POOLS(Kind.GAUGE, "dra4j.unpublished.pools"),
    LEFT_OUT_DEVICES(Kind.GAUGE, "dra4j.left.out.devices"),
    EXCLUDED_DEVICES(Kind.GAUGE, "dra4j.excluded.devices"),
    MAINTAINED_DEVICES(Kind.GAUGE, "dra4j.maintained.devices"),
    JOURNAL_SIZE(Kind.GAUGE, "dra4j.journal.size.bytes"),
    JOURNAL_SYNCS(Kind.TIMER, "dra4j.journal.sync.duration"),
    JOURNAL_DAMAGED_LINES(Kind.COUNTER, "dra4j.journal.damaged.lines"),
    API_REQUESTS(Kind.TIMER, "dra4j.api.request.duration", "method", "resource", "status"),
    MISSING_PERMISSIONS(Kind.COUNTER, "dra4j.missing.permissions", "verb", "resource"),
    REGISTRATIONS(Kind.COUNTER, "dra4j.registrations", "result"),
    DEVICE_HEALTH(Kind.GAUGE, "dra4j.device.health", "state"),
    MEASUREMENT_FAILURES(Kind.COUNTER, "dra4j.measurement.failures", "reason"),
    PROBLEMS(Kind.COUNTER, "dra4j.problems", "reason");

    /** The meanings of all metrics, by their names. */
    static final ResourceBundle MEANINGS = ResourceBundle.getBundle("io.dra4j.runtime.internal.observe.metrics");

    private final Kind kind;
    private final String meterName;
    private final List<String> labels;

    Metric(Kind kind, String meterName, String... labels) {
        this.kind = kind;
        this.meterName = meterName;
        this.labels = List.of(labels);
    }

    enum Kind {
        COUNTER("_total"),
        GAUGE(""),
        TIMER("_seconds");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }
    }

    Kind kind() {
        return kind;
    }

    /** Micrometer's name, from which each monitoring system makes its own. */
    String meterName() {
        return meterName;
    }

    String meaning() {
        return MEANINGS.getString(meterName);
    }

    List<String> labels() {
        return labels;
    }

    String prometheusName() {
        return meterName.replace('.', '_') + kind.suffix;
    }
}
