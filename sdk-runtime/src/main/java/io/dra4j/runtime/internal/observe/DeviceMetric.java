// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.util.List;

/**
 * The metrics of devices that claims hold: one list, from which the reference page is rendered.
 *
 * <p>Each has the {@link #LABELS}, and {@code driver} and {@code node} like all metrics. Devices that no claim holds
 * have no metrics, so their number is bounded by the node's devices.
 */
public enum DeviceMetric {
    UTILIZATION("utilization_ratio", "the fraction of recent time in which it was busy, 0 to 1"),
    MEMORY_USED("memory_used_bytes", "its memory in use"),
    MEMORY_SIZE("memory_size_bytes", "its memory"),
    POWER("power_watts", "the power that it draws"),
    ENERGY("energy_joules_total", "the energy that it has used"),
    TEMPERATURE("temperature_celsius", "its temperature"),
    CORRECTED_MEMORY_ERRORS("corrected_memory_errors_total", "errors of its memory that were corrected"),
    UNCORRECTED_MEMORY_ERRORS("uncorrected_memory_errors_total", "errors of its memory that were not corrected"),
    FAULTS("faults_total", "faults that it reported since the driver started, such as XIDs"),
    LINK_SENT("link_sent_bytes_total", "bytes sent to other devices, by NVLink for instance"),
    LINK_RECEIVED("link_received_bytes_total", "bytes received from other devices"),
    BUS_SENT("bus_sent_bytes_total", "bytes sent to the machine, by PCIe for instance"),
    BUS_RECEIVED("bus_received_bytes_total", "bytes received from the machine"),
    IDLE(
            "idle_seconds",
            "the time since a scrape last found it busy, or first found it held by the claim"
                    + " since the driver started; only with a utilization");

    /** The labels of all metrics except {@link #INFO}. */
    static final List<String> LABELS =
            List.of("namespace", "claim", "pod", "request", "pool", "device", "share", "uuid", "scope");

    /** The metric that has only the labels, for joins: a series for each pod of the claim. */
    static final String INFO = "dra4j_device_info";

    /** The labels of {@link #INFO}. */
    static final List<String> INFO_LABELS = List.of(
            "namespace", "claim", "claim_uid", "pod", "request", "pool", "device", "share", "uuid", "parent_uuid");

    private static final String TOTAL = "_total";

    private final String prometheusName;
    private final String meaning;

    DeviceMetric(String name, String meaning) {
        this.prometheusName = "dra4j_device_" + name;
        this.meaning = meaning;
    }

    String prometheusName() {
        return prometheusName;
    }

    String meaning() {
        return meaning;
    }

    boolean isCounter() {
        return prometheusName.endsWith(TOTAL);
    }

    /** The name without the suffix that each format adds to counters. */
    String baseName() {
        return isCounter() ? prometheusName.substring(0, prometheusName.length() - TOTAL.length()) : prometheusName;
    }
}
