// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.LeaseStore;
import io.dra4j.runtime.internal.cluster.LeaseStore.Lease;
import io.dra4j.runtime.internal.cluster.LeaseStore.LeaseTimes;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right to write slices without a node: of the processes that share a Lease, one has it at a time.
 *
 * <ul>
 *   <li>A leader's right ends when it has not renewed the Lease for the renew deadline, counted from before the request
 *       that last renewed it was sent; by its monotonic clock, or by the wall clock, which also counts while a virtual
 *       machine is suspended.
 *   <li>Others take the Lease when they have seen it unchanged for its duration, which is longer, by their own
 *       monotonic clocks: clocks are never compared.
 *   <li>A Lease is written with the version that was read: of two processes that take it, one gets a conflict.
 * </ul>
 *
 * <p>fabric8's elector is not used: it compares the holder's clock with its own, and needs a client and models that a
 * driver does not have. One thread asks the API server; {@link #get} and {@link #mayWrite} may be called from any.
 */
public final class LeaderElection implements Supplier<Optional<Turn>>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LeaderElection.class);
    private static final Right NONE = new Right(0, Instant.MIN, Instant.MIN);
    private static final int CONFLICT = 409;
    private static final Duration RELEASED = Duration.ofSeconds(1);

    private final LeaseStore leases;
    private final String identity;
    private final LeaseTimes times;
    private final InstantSource clock;
    private final InstantSource wallClock;
    private final ScheduledExecutorService thread;
    private volatile Right right = NONE;
    private volatile Term given = new Term();
    private volatile boolean resigned;
    private volatile @Nullable String problem;

    // Guarded by this.
    private @Nullable Lease seen;
    private Instant seenAt = Instant.MIN;
    private boolean readsAgain = true;
    private int terms;

    /** A right to write until an instant of either clock. */
    private record Right(int term, Instant end, Instant endOfWallClock) {}

    /** The publisher's right: once lost, it stays lost, even if the process leads again. */
    private final class Term {
        private final int number = right.term;
        private volatile boolean lost;

        boolean isLost() {
            if (right.term != number || !isLeading()) {
                lost = true;
            }
            return lost;
        }

        /** After the last write: another process need not wait until the Lease ends. */
        void end() {
            if (!isLost()) {
                resigned = true;
                release();
            }
        }
    }

    /** Creates an election, not yet started, with its own thread. */
    public LeaderElection(LeaseStore leases, String identity, LeaseTimes times) {
        this(
                leases,
                identity,
                times,
                SlicePublisher.steadyClock(),
                InstantSource.system(),
                ShortLivedThreads.upkeep("dra4j-leader-election"));
    }

    LeaderElection(
            LeaseStore leases,
            String identity,
            LeaseTimes times,
            InstantSource clock,
            InstantSource wallClock,
            ScheduledExecutorService thread) {
        this.leases = leases;
        this.identity = identity;
        this.times = times;
        this.clock = clock;
        this.wallClock = wallClock;
        this.thread = thread;
    }

    public void start() {
        thread.execute(this::step);
    }

    /** Returns whether this process may take a turn now. */
    boolean isLeading() {
        Right one = right;
        return clock.instant().isBefore(one.end) && wallClock.instant().isBefore(one.endOfWallClock);
    }

    /** Returns whether the last turn still lasts; after an earlier one, another process may have written. */
    public boolean mayWrite() {
        return !given.isLost();
    }

    /** Returns why the last attempt to take or renew the Lease failed; empty if it did not. */
    public Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    @Override
    public Optional<Turn> get() {
        Term term = new Term();
        given = term;
        return term.isLost() ? Optional.empty() : Optional.of(new Turn(term::isLost, term::end));
    }

    private synchronized void step() {
        if (resigned) {
            return;
        }
        try {
            attempt();
            problem = null;
        } catch (ClusterException e) {
            readsAgain = true;
            if (e.status() != CONFLICT) { // another process won
                failed(String.valueOf(e.getMessage()), e);
            }
        } catch (RuntimeException | Error e) { // a bug, or no more threads: neither must end the election
            readsAgain = true;
            failed(String.valueOf(e), e);
        }
        try {
            thread.schedule(this::step, times.retryPeriod().toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // Closed.
        }
    }

    private void failed(String why, Throwable cause) {
        if (!why.equals(problem)) {
            LOG.atWarn().setCause(cause).log("Could not acquire or renew the Lease; will try again");
        }
        problem = why;
    }

    private void attempt() {
        if (readsAgain || !isLeading()) {
            see(leases.read().orElse(null));
        }
        Lease found = seen;
        boolean isOurs = found != null && found.holder().equals(identity);
        if (!isOurs) {
            right = NONE;
        }
        if (!isOurs && !isFree(found)) {
            return;
        }
        Instant sent = clock.instant();
        Instant sentByWallClock = wallClock.instant();
        see(leases.write(taken(found, sentByWallClock)));
        readsAgain = false;
        boolean leads = isLeading();
        if (!leads) {
            terms++;
            LOG.atInfo().log("This process is now the leader and publishes the driver's pools");
        }
        right = new Right(terms, sent.plus(times.renewDeadline()), sentByWallClock.plus(times.renewDeadline()));
    }

    private void see(@Nullable Lease lease) {
        if (lease == null || !lease.equals(seen)) {
            seen = lease;
            seenAt = clock.instant();
        }
    }

    private boolean isFree(@Nullable Lease lease) {
        return lease == null || lease.holder().isEmpty() || !clock.instant().isBefore(seenAt.plus(lease.duration()));
    }

    private Lease taken(@Nullable Lease before, Instant now) {
        if (before == null) {
            return new Lease(identity, times.duration(), now, now, 0, "");
        }
        boolean isOurs = before.holder().equals(identity);
        return new Lease(
                identity,
                times.duration(),
                isOurs ? before.acquired() : now,
                now,
                before.transitions() + (isOurs ? 0 : 1),
                before.resourceVersion());
    }

    private synchronized void release() {
        right = NONE;
        Lease held = seen;
        if (held != null && held.holder().equals(identity)) {
            try {
                leases.write(new Lease(
                        "",
                        RELEASED,
                        held.acquired(),
                        wallClock.instant(),
                        held.transitions(),
                        held.resourceVersion()));
            } catch (ClusterException e) {
                LOG.atInfo().setCause(e).log("Could not release the Lease; it will expire");
            }
        }
    }

    /** Ends; the Lease is released if the publisher has ended its turn, and expires otherwise. */
    @Override
    public void close() {
        resigned = true;
        thread.shutdownNow();
    }
}
