// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right to write slices: of the processes of a driver on a node, one has it at a time.
 *
 * <p>During a rolling update the new process waits for the old one to end in any way, so that neither undoes what the
 * other wrote. Used only on the loop's thread, except {@link #isHeld} and {@link #isWaiting}.
 */
final class PublisherLock {

    private static final Logger LOG = LoggerFactory.getLogger(PublisherLock.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final Supplier<Optional<Turn>> lock;
    private final InstantSource clock;
    private volatile @Nullable Turn held;
    private @Nullable Instant next;
    private boolean isNew;
    private volatile boolean waiting;

    PublisherLock(Supplier<Optional<Turn>> lock, InstantSource clock) {
        this.lock = lock;
        this.clock = clock;
    }

    /** Returns whether this process writes, after trying to take the lock if that is due. */
    boolean tryAcquire() {
        Instant now = clock.instant();
        if (held != null && held.isLost().getAsBoolean()) {
            release();
            held = null;
            next = null;
        }
        if (held == null && (next == null || !next.isAfter(now))) {
            next = now.plus(INTERVAL);
            held = lock.get().orElse(null);
            isNew = held != null;
            logChange();
            waiting = held == null;
        }
        return held != null;
    }

    private void logChange() {
        if (held == null && !waiting) {
            LOG.atInfo().log("Another process of the driver publishes; this one takes over when it ends");
        } else if (held != null && waiting) {
            LOG.atInfo().log("The other process has ended; this one publishes now");
        }
    }

    /** Returns whether it was taken since the last call of this method: another process may have written before. */
    boolean wasTaken() {
        boolean was = isNew;
        isNew = false;
        return was;
    }

    /** Returns the time of the next attempt; empty if none is needed. */
    Optional<Instant> due() {
        return isWaiting() ? Optional.ofNullable(next) : Optional.empty();
    }

    void release() {
        if (held != null) {
            held.end().run();
        }
    }

    /** Returns whether this process has it; from any thread. */
    boolean isHeld() {
        Turn turn = held;
        return turn != null && !turn.isLost().getAsBoolean();
    }

    /** Returns whether another process was seen to publish, or may do so after this one; from any thread. */
    boolean isWaiting() {
        Turn turn = held;
        return waiting || (turn != null && turn.isLost().getAsBoolean());
    }
}
