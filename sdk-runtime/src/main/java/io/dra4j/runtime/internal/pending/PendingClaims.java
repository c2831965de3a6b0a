// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pending;

import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.PendingClaim;
import io.dra4j.runtime.internal.observe.ListedClaims;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of the cluster that wait, listed when they are asked for, and not more often than
 * every 15 seconds, however many ask; a list that fails counts, too.
 *
 * <p>One caller lists, and the others wait for it. Without a list there are no claims here: those
 * of an earlier list would look like the present.
 */
public final class PendingClaims implements Supplier<ListedClaims> {

    static final Duration VALID = Duration.ofSeconds(15);

    /** Prometheus gives a scrape up after 10 seconds by default, and would not see the failure. */
    public static final Duration LIMIT = Duration.ofSeconds(8);

    /** Lists the claims that wait, of all namespaces. */
    @FunctionalInterface
    public interface Source {

        /**
         * Hands each claim over as it comes.
         *
         * @throws ClusterException if they can't be read in time
         */
        void list(Consumer<PendingClaim> claim, Duration limit);
    }

    private static final Logger LOG = LoggerFactory.getLogger(PendingClaims.class);

    private final Source source;
    private final InstantSource clock;
    private final Duration limit;

    private @Nullable Instant asked;
    private @Nullable ClassCounts counts;
    private volatile String problem = "";
    private long failures;

    /**
     * Makes a list that was not read yet.
     *
     * @param limit the time that a list may take: {@link #LIMIT}, but for tests
     */
    public PendingClaims(Source source, InstantSource clock, Duration limit) {
        this.source = source;
        this.clock = clock;
        this.limit = limit;
    }

    /** Returns the claims by class, with their ages at this moment. */
    @Override
    public synchronized ListedClaims get() {
        if (isOld()) {
            list();
        }
        ClassCounts present = counts;
        return new ListedClaims(present == null ? List.of() : present.at(clock.instant()), failures);
    }

    /** A clock that was set back must not stop the lists. */
    private boolean isOld() {
        Instant last = asked;
        if (last == null) {
            return true;
        }
        Duration age = Duration.between(last, clock.instant());
        return age.isNegative() || age.compareTo(VALID) >= 0;
    }

    private void list() {
        asked = clock.instant();
        counts = null;
        ClassTally tally = new ClassTally();
        try {
            source.list(tally::add, limit);
            counts = tally.counts();
            if (!problem.isEmpty()) {
                LOG.atInfo().log("Claims are listed again");
            }
            problem = "";
        } catch (ClusterException e) {
            failures++;
            boolean isNew = problem.isEmpty();
            problem = String.valueOf(e.getMessage());
            if (isNew) {
                LOG.atWarn()
                        .addKeyValue(LogField.REASON, problem)
                        .log("Can't list claims; there are no metrics of pending claims meanwhile");
            }
        }
    }

    /** Returns why the last list failed; empty if it did not. Never waits for a list. */
    public String problem() {
        return problem;
    }
}
