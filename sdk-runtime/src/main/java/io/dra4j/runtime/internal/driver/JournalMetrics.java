// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.runtime.internal.checkpoint.JournalMeter;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.time.Duration;

/** Passes the journal's measurements to the meters. */
final class JournalMetrics implements JournalMeter {

    private final Meters meters;
    private volatile long size;

    JournalMetrics(Meters meters) {
        this.meters = meters;
        meters.watch(Metric.JOURNAL_SIZE, () -> size);
        meters.count(Metric.JOURNAL_DAMAGED_LINES, 0);
    }

    @Override
    public void synced(Duration duration) {
        meters.time(Metric.JOURNAL_SYNCS, duration);
    }

    @Override
    public void size(long bytes) {
        size = bytes;
    }

    @Override
    public void damaged(int lines) {
        meters.count(Metric.JOURNAL_DAMAGED_LINES, lines);
    }
}
