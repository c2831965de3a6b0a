// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceBinder;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.status.BindingLoop;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

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

    /** Begins to bind devices, on another thread: a driver's own code runs there. */
    static BindingLoop binding(
            DriverSettings settings,
            DeviceBinder binder,
            Supplier<Optional<Inventory>> inventory,
            Cluster cluster) {
        return new BindingLoop(
                new BindingLoop.Parts(
                        settings.driverName(),
                        settings.nodeName(),
                        binder,
                        pool -> inventory.get().filter(all -> isOfNode(pool, all)).isPresent(),
                        cluster.claimFeed(),
                        cluster.claimStatuses(),
                        settings.clock()),
                Executors.newSingleThreadScheduledExecutor(Reporting::bindingThread));
    }

    /** The devices of other pools may be bound on any node; which one is theirs nobody says. */
    private static boolean isOfNode(PoolName name, Inventory inventory) {
        return inventory.pools().stream()
                .filter(pool -> pool.placement() instanceof Placement.ThisNode)
                .anyMatch(pool -> pool.name().equals(name));
    }

    private static Thread thread(Runnable task) {
        return named("dra4j-reports", task);
    }

    private static Thread bindingThread(Runnable task) {
        return named("dra4j-binding", task);
    }

    private static Thread named(String name, Runnable task) {
        Thread thread = new Thread(task, name);
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
