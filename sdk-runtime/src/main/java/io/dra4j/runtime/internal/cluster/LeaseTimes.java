// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import java.time.Duration;

/**
 * The times of a leader election.
 *
 * @param duration how long a Lease that is not renewed stays with its holder; whole seconds
 * @param renewDeadline how long after its last renewal a leader may still write
 * @param retryPeriod the time between two attempts to acquire or renew the Lease
 */
public record LeaseTimes(Duration duration, Duration renewDeadline, Duration retryPeriod) {

    /** Refuses times that would allow two leaders. */
    public LeaseTimes {
        if (duration.toNanosPart() != 0
                || retryPeriod.isNegative()
                || retryPeriod.isZero()
                || renewDeadline.compareTo(retryPeriod) <= 0
                || duration.minus(renewDeadline).toMillis() < 1000) {
            throw new DraException(
                    ("Invalid times of a leader election: lease duration %s, renew deadline %s, retry period %s;"
                                    + " the duration must be whole seconds, and at least a second longer than the renew deadline, which must be"
                                    + " longer than the retry period")
                            .formatted(duration, renewDeadline, retryPeriod));
        }
    }

    /** Returns how long a request may take: the last request ends before the Lease does. */
    public Duration requestLimit() {
        return duration.minus(renewDeadline).multipliedBy(4).dividedBy(5);
    }
}
