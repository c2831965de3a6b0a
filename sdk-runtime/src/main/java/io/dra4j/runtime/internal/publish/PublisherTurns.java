// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whose turn it is to write slices: of the processes of a driver on a node, one does at a time.
 *
 * <p>During a rolling update the new process waits for the old one to end, however it ends, so that
 * the two never undo what the other wrote. Used on the loop's thread alone, except {@link
 * #isWaiting}.
 */
final class PublisherTurns {

    private static final Logger LOG = LoggerFactory.getLogger(PublisherTurns.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final SlicePublisher.PublisherLock baton;
    private final InstantSource clock;
    private @Nullable Runnable giveBack;
    private @Nullable Instant next;
    private volatile boolean waiting;

    PublisherTurns(SlicePublisher.PublisherLock baton, InstantSource clock) {
        this.baton = baton;
        this.clock = clock;
    }

    /** Tells whether this process writes; takes its turn if it is time to try, and it can. */
    boolean isOurs() {
        Instant now = clock.instant();
        if (giveBack == null && (next == null || !next.isAfter(now))) {
            next = now.plus(INTERVAL);
            giveBack = baton.tryTake().orElse(null);
            tell();
            waiting = giveBack == null;
        }
        return giveBack != null;
    }

    private void tell() {
        if (giveBack == null && !waiting) {
            LOG.atInfo().log(
                    "Another process of the driver publishes; this one goes on with it when"
                            + " that one ends");
        } else if (giveBack != null && waiting) {
            LOG.atInfo().log("The other process has ended; this one publishes now");
        }
    }

    /** When to try again; empty if there is no need to. */
    Optional<Instant> due() {
        return giveBack == null ? Optional.ofNullable(next) : Optional.empty();
    }

    /** Lets another process have its turn. */
    void giveBack() {
        if (giveBack != null) {
            giveBack.run();
        }
    }

    /** Tells whether another process was seen to publish; from any thread. */
    boolean isWaiting() {
        return waiting;
    }
}
