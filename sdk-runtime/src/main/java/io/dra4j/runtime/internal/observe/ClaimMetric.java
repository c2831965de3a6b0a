// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.util.List;

/**
 * The metrics of claims that wait, as one process of the cluster serves them: one list, from which
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

    /** The name without the suffix that each format adds to counters by itself. */
    String baseName() {
        return isCounter() ? prometheusName.substring(0, prometheusName.length() - TOTAL.length()) : prometheusName;
    }
}
