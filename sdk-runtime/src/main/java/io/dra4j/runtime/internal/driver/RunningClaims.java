// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.claim.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claim preparation with the threads that it runs on.
 *
 * <p>Closing it waits for calls to the provider that still run, for a short time: a provider must
 * not be closed under them.
 */
final class RunningClaims implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RunningClaims.class);
    private static final Duration UPKEEP_PACE = Duration.ofSeconds(10);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final ExecutorService executor = Executors.newCachedThreadPool(threads("dra4j-claim-"));
    private final ScheduledExecutorService upkeep =
            Executors.newSingleThreadScheduledExecutor(threads("dra4j-claim-upkeep-"));
    private final ClaimPreparation preparation;

    RunningClaims(
            DriverSettings settings,
            DeviceProvider provider,
            Cluster cluster,
            Journal journal,
            LockFile locks,
            ClaimReports reports,
            Supplier<Optional<Inventory>> inventory,
            EventRecorder notices) {
        preparation =
                new ClaimPreparation(
                        new ClaimPreparation.Parts(
                                settings.driverName(),
                                provider,
                                reader(cluster),
                                journal,
                                locks,
                                new CdiSpecs(settings.cdiRoot(), settings.driverName()),
                                reports,
                                inventory,
                                settings.clock(),
                                notices,
                                settings.dataDirectory()),
                        executor);
    }

    private static ClaimReader reader(Cluster cluster) {
        return new ClaimReader() {
            @Override
            public ClaimObject read(ClaimRef claim, Duration limit) {
                return cluster.claim(claim, limit);
            }

            @Override
            public Map<ClaimRef, ClaimObject> readAll(Duration limit) {
                return cluster.claims(limit);
            }
        };
    }

    ClaimPreparation preparation() {
        return preparation;
    }

    /** Takes up what an earlier process left, and looks after it from now on. */
    void takeUp() {
        preparation.takeUp();
        upkeep.scheduleWithFixedDelay(
                this::lookAfter,
                UPKEEP_PACE.toMillis(),
                UPKEEP_PACE.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void lookAfter() {
        try {
            preparation.lookAfter();
        } catch (RuntimeException e) { // it is due again soon
            LOG.atError().setCause(e).log("Looking after claims failed");
        }
    }

    private static ThreadFactory threads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public void close() {
        upkeep.shutdownNow();
        executor.shutdown();
        try {
            if (!executor.awaitTermination(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atWarn().log("Work on claims goes on while the driver stops");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
