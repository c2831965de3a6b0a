// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.claim.ClaimParts;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Claim preparation with the threads that it runs on.
 *
 * <p>Closing it waits briefly for calls to the provider that still run: a provider must not be closed during them.
 * After that no call begins.
 */
final class RunningClaims implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RunningClaims.class);
    private static final Duration UPKEEP_PACE = Duration.ofSeconds(10);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final ExecutorService executor = ShortLivedThreads.waiting("dra4j-claim");
    private final ScheduledExecutorService upkeep = ShortLivedThreads.upkeep("dra4j-claim-upkeep");
    private final ClaimPreparation preparation;
    private Set<String> failures = Set.of(); // of the last maintenance; used only by the upkeep's thread

    RunningClaims(ClaimParts context, Meters meters) {
        preparation = new ClaimPreparation(context, executor);
        measure(meters);
    }

    private void measure(Meters meters) {
        for (Phase phase : Phase.values()) {
            meters.watch(
                    Metric.HELD_CLAIMS,
                    () -> preparation.held().stream()
                            .filter(h -> h.phase() == phase)
                            .count(),
                    phase.name().toLowerCase(Locale.ROOT));
        }
        meters.watch(
                Metric.HELD_DEVICES,
                () -> preparation.held().stream()
                        .mapToInt(held -> held.devices().size())
                        .sum());
    }

    ClaimPreparation preparation() {
        return preparation;
    }

    /**
     * Recovers what an earlier process left, and maintains it from now on.
     *
     * @param files maintain the files that claims need, before the claims are maintained
     */
    void recover(List<Runnable> files) {
        preparation.recover();
        upkeep.scheduleWithFixedDelay(
                () -> maintain(files), UPKEEP_PACE.toMillis(), UPKEEP_PACE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void maintain(List<Runnable> files) {
        Set<String> failed = new HashSet<>();
        files.forEach(file -> attempt(file, failed));
        attempt(preparation::maintain, failed);
        failures = failed;
    }

    private void attempt(Runnable task, Set<String> failed) {
        try {
            task.run();
        } catch (RuntimeException e) { // it is due again soon
            String now = String.valueOf(e);
            failed.add(now);
            LOG.atLevel(failures.contains(now) ? Level.DEBUG : Level.ERROR)
                    .setCause(e)
                    .log("The upkeep of claims and their files failed; trying again: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        upkeep.shutdownNow();
        executor.shutdown();
        try {
            if (!executor.awaitTermination(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atWarn().log("Claim operations are still running while the driver stops");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        preparation.close();
    }
}
