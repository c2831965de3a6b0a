// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import java.time.Duration;

/** Counts the rounds of a rule: a given number, or fewer if a driver is slow. Not thread-safe. */
public final class Rounds {

    private final int most;
    private final long end;
    private int done;

    /** At most {@code most} rounds, of which only the first may begin after this time. */
    public Rounds(int most, Duration time) {
        this.most = most;
        end = System.nanoTime() + time.toNanos();
    }

    /** Returns whether there is another round, which begins then. */
    public boolean next() {
        boolean another = done < most && (done == 0 || System.nanoTime() < end);
        if (another) {
            done++;
        }
        return another;
    }

    /** Returns the number of rounds that have begun. */
    public int done() {
        return done;
    }
}
