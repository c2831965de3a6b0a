// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import java.time.Duration;

/**
 * The times of a leader election.
 *
 * @param duration for how long a Lease that is not renewed is left to its holder; whole seconds
 * @param renewDeadline how long after its last renewal a leader writes at most
 * @param retryPeriod the time between two attempts to take or renew the Lease
 */
public record LeaseTimes(Duration duration, Duration renewDeadline, Duration retryPeriod) {

    /** Refuses times with which two could lead. */
    public LeaseTimes {
        if (duration.toNanosPart() != 0
                || retryPeriod.isNegative()
                || retryPeriod.isZero()
                || renewDeadline.compareTo(retryPeriod) <= 0
                || duration.minus(renewDeadline).toMillis() < 1000) {
            throw new DraException(
                    ("Not times of a leader election: lease duration %s, renew deadline %s, retry period %s;"
                                    + " the duration has to be whole seconds and a second longer than the renew deadline, and that"
                                    + " longer than the retry period")
                            .formatted(duration, renewDeadline, retryPeriod));
        }
    }

    /** Returns for how long a request may be on its way: one that is sent last ends before the Lease does. */
    public Duration requestLimit() {
        return duration.minus(renewDeadline).multipliedBy(4).dividedBy(5);
    }
}
