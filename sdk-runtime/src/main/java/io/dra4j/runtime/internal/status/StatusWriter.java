// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a field manager's part of claims' statuses to the API server, later, and retries until it is there.
 *
 * <p>Callers never wait. The entries are computed for each attempt, because another process of the driver may have
 * changed them since. What failed is tried again after a second, then less and less often, for as long as the claim
 * exists; for lack of permission, after ten minutes. A refusal because the entries themselves are wrong is final.
 * Thread-safe.
 */
final class StatusWriter {

    private static final Logger LOG = LoggerFactory.getLogger(StatusWriter.class);
    private static final Duration FIRST_WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(2);
    private static final Duration FORBIDDEN_WAIT = Duration.ofMinutes(10);
    private static final int CONFLICT = 409;
    private static final int INVALID = 422;

    private final ClaimStatuses statuses;
    private final String fieldManager;
    private final Function<ClaimRef, List<String>> entries;
    private final BiConsumer<ClaimRef, BooleanSupplier> written;
    private final ScheduledExecutorService executor;
    private final Map<String, Wanted> wanted = new HashMap<>(); // by UID; guarded by this

    /**
     * @param entries returns the entries that a claim's status should have now
     * @param written called when a claim's status has it, or never will, with whether nothing newer is wanted; called
     *     again if it throws
     * @param executor one thread, which the writes block
     */
    StatusWriter(
            ClaimStatuses statuses,
            String fieldManager,
            Function<ClaimRef, List<String>> entries,
            BiConsumer<ClaimRef, BooleanSupplier> written,
            ScheduledExecutorService executor) {
        this.statuses = statuses;
        this.fieldManager = fieldManager;
        this.entries = entries;
        this.written = written;
        this.executor = executor;
    }

    /** A claim whose entries must be written, and the wait before the next attempt. */
    private static final class Wanted {
        private final ClaimRef claim;
        private Duration wait = FIRST_WAIT; // used only by the executor's thread

        Wanted(ClaimRef claim) {
            this.claim = claim;
        }
    }

    /** Submits a claim's entries as the reports have them. */
    void want(ClaimRef claim) {
        Wanted next = new Wanted(claim);
        synchronized (this) {
            wanted.put(claim.uid(), next);
        }
        schedule(next, Duration.ZERO);
    }

    synchronized boolean isWanted(String uid) {
        return wanted.containsKey(uid);
    }

    private void schedule(Wanted next, Duration wait) {
        try {
            executor.schedule(() -> write(next), wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.atDebug().log("The driver is stopping; the status of a claim is written after its next start");
        }
    }

    private void write(Wanted next) {
        if (!isWanted(next)) {
            return;
        }
        try {
            statuses.apply(next.claim, fieldManager, entries.apply(next.claim));
            finish(next, null);
        } catch (ClusterException.Forbidden e) { // which is logged where it is noticed
            schedule(next, FORBIDDEN_WAIT);
        } catch (ClusterException failure) {
            afterFailure(next, failure);
        } catch (RuntimeException | OutOfMemoryError e) { // the reports can't be read now, or a bug
            retry(next, e, null);
        }
    }

    private void afterFailure(Wanted next, ClusterException failure) {
        try {
            if (failure instanceof ClusterException.NotFound || isAnother(next, failure)) {
                finish(next, "the claim is gone");
            } else if (failure.status() == INVALID) {
                finish(next, "the API server refuses it permanently: " + failure.getMessage());
            } else {
                retry(next, failure, failure.retryAfter());
            }
        } catch (ClusterException unreachable) {
            retry(next, unreachable, unreachable.retryAfter());
        }
    }

    /** A claim that was created again under its name is refused by its UID. */
    private boolean isAnother(Wanted next, ClusterException failure) {
        return (failure.status() == CONFLICT || failure.status() == INVALID) && !statuses.exists(next.claim);
    }

    private void retry(Wanted next, Throwable failure, @Nullable Duration requested) {
        // The first failure shows what is wrong; those after it repeat it.
        (next.wait.equals(FIRST_WAIT) ? LOG.atWarn() : LOG.atDebug())
                .addKeyValue(LogField.CLAIM, next.claim)
                .log("The status of a claim's devices is not written yet; trying again: {}", failure.getMessage());
        Duration wait = requested != null && requested.compareTo(next.wait) > 0 ? requested : next.wait;
        Duration doubled = next.wait.multipliedBy(2);
        next.wait = doubled.compareTo(LONGEST_WAIT) < 0 ? doubled : LONGEST_WAIT;
        schedule(next, wait);
    }

    /** The claim stays wanted until the report is settled: if that fails, it is tried again. */
    private void finish(Wanted next, @Nullable String problem) {
        try {
            written.accept(next.claim, () -> isWanted(next));
        } catch (DraException e) {
            retry(next, e, null);
            return;
        }
        if (problem != null) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM, next.claim)
                    .log("The status of a claim's devices is not written: {}", problem);
        }
        synchronized (this) {
            wanted.remove(next.claim.uid(), next); // unless there is more to write
        }
    }

    private synchronized boolean isWanted(Wanted next) {
        return wanted.get(next.claim.uid()) == next;
    }
}
