// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.util.List;

/**
 * The metrics of a driver: one list, from which the reference page is rendered.
 *
 * <p>Each metric also has the labels {@code driver} and {@code node}. No label ever names a claim, a device or anything
 * else of which there may be ever more; {@link DeviceMetric} has the metrics of devices.
 */
public enum Metric {
    BUILD_INFO(Kind.GAUGE, "dra4j.build.info", "1; its label is the release of dra4j", "version"),
    KUBERNETES_INFO(
            Kind.GAUGE,
            "dra4j.kubernetes.info",
            "1 for the release of the API server, 0 for one that it had before; known_as is the release whose rules the"
                    + " driver applies: another one, if it does not know the server's",
            "release",
            "known_as"),
    CALLS(
            Kind.TIMER,
            "dra4j.call.duration",
            "how long calls of the kubelet took: operation is prepare or unprepare",
            "operation"),
    CLAIMS(
            Kind.COUNTER,
            "dra4j.claims",
            "claims in the kubelet's calls, by their result: success or error",
            "operation",
            "result"),
    CLAIM_LATENCY(
            Kind.TIMER,
            "dra4j.claim.latency",
            "the time from the creation of claims until they were prepared, by the device class of"
                    + " the request: it has waiting for a node and for devices in it",
            "device_class"),
    HELD_CLAIMS(
            Kind.GAUGE,
            "dra4j.held.claims",
            "claims that the driver holds, by how far they are: phase is started, prepared,"
                    + " unpreparing or damaged",
            "phase"),
    HELD_DEVICES(Kind.GAUGE, "dra4j.held.devices", "devices that held claims hold"),
    PUBLISHED_SLICES(
            Kind.GAUGE,
            "dra4j.published.slices",
            "this driver's ResourceSlices in the cluster, as last seen by the process that publishes"
                    + " them; 0 in one that waits for the publisher lock"),
    UNPUBLISHED_POOLS(
            Kind.GAUGE, "dra4j.unpublished.pools", "pools of which the cluster does not have what the driver offers"),
    LEFT_OUT_DEVICES(
            Kind.GAUGE,
            "dra4j.left.out.devices",
            "devices of the node that are not offered: those that the provider left out, and those that break a rule of the API"),
    EXCLUDED_DEVICES(
            Kind.GAUGE,
            "dra4j.excluded.devices",
            "devices that the device policy excludes, and that are not published therefore"),
    MAINTAINED_DEVICES(
            Kind.GAUGE, "dra4j.maintained.devices", "devices that are tainted because they are in maintenance"),
    JOURNAL_SIZE(Kind.GAUGE, "dra4j.journal.size", "bytes", "the size of the journal of claims", List.of()),
    JOURNAL_SYNCS(
            Kind.TIMER, "dra4j.journal.sync.duration", "how long the disk took to make lines of the journal durable"),
    JOURNAL_DAMAGED_LINES(Kind.COUNTER, "dra4j.journal.damaged.lines", "lines of the journal that were found damaged"),
    API_REQUESTS(
            Kind.TIMER,
            "dra4j.api.request.duration",
            "how long requests to the API server took; status is none if there was no answer",
            "method",
            "resource",
            "status"),
    MISSING_PERMISSIONS(
            Kind.COUNTER,
            "dra4j.missing.permissions",
            "requests that the API server refused because the driver's ServiceAccount lacks a verb in"
                    + " its ClusterRole",
            "verb",
            "resource"),
    REGISTRATIONS(
            Kind.COUNTER,
            "dra4j.registrations",
            "registrations of the driver by the kubelet: result is success or error",
            "result"),
    DEVICE_HEALTH(
            Kind.GAUGE,
            "dra4j.device.health",
            "devices, by the health last reported; only of a driver that reports health",
            "state"),
    MEASUREMENT_FAILURES(
            Kind.COUNTER,
            "dra4j.measurement.failures",
            "devices that a scrape could not measure: reason is error or timeout",
            "reason"),
    PROBLEMS(
            Kind.COUNTER,
            "dra4j.problems",
            "problems that were reported to the host and as Events on the Node, by their reason",
            "reason");

    private final Kind kind;
    private final String meterName;
    private final String unit;
    private final String meaning;
    private final List<String> labels;

    Metric(Kind kind, String meterName, String meaning, String... labels) {
        this(kind, meterName, "", meaning, List.of(labels));
    }

    Metric(Kind kind, String meterName, String unit, String meaning, List<String> labels) {
        this.kind = kind;
        this.meterName = meterName;
        this.unit = unit;
        this.meaning = meaning;
        this.labels = labels;
    }

    enum Kind {
        COUNTER("counter", "_total"),
        GAUGE("gauge", ""),
        TIMER("histogram", "_seconds");

        private final String prometheusType;
        private final String suffix;

        Kind(String prometheusType, String suffix) {
            this.prometheusType = prometheusType;
            this.suffix = suffix;
        }

        String prometheusType() {
            return prometheusType;
        }
    }

    Kind kind() {
        return kind;
    }

    /** The name as Micrometer has it, from which each monitoring system makes its own. */
    String meterName() {
        return meterName;
    }

    /** The base unit; empty for a mere number, and for timers, which know theirs. */
    String unit() {
        return unit;
    }

    String meaning() {
        return meaning;
    }

    List<String> labels() {
        return labels;
    }

    String prometheusName() {
        String name = meterName.replace('.', '_') + (unit.isEmpty() ? "" : "_" + unit);
        return name + kind.suffix;
    }
}
