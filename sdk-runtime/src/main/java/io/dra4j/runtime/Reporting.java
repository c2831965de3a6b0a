// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** What tells the cluster of claims' devices, on a thread of its own. */
final class Reporting implements AutoCloseable {

    private final ScheduledExecutorService executor =
            Executors.newSingleThreadScheduledExecutor(Reporting::thread);
    private final ClaimReports reports;

    Reporting(DriverSettings settings, Journal journal, Cluster cluster) {
        reports =
                new ClaimReports(
                        new ClaimReports.Parts(
                                settings.driverName(),
                                settings.nodeName(),
                                settings.dataDirectory(),
                                ref ->
                                        journal.claim(ref.uid())
                                                .map(record -> record.held(journal.bootId())),
                                cluster.claimStatuses(),
                                settings.clock()),
                        executor);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "dra4j-reports");
        thread.setDaemon(true);
        return thread;
    }

    ClaimReports reports() {
        return reports;
    }

    /** What is not told yet is told after the next start. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
