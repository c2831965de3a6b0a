// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A Lease of {@code coordination.k8s.io}, by which processes elect a leader.
 *
 * <p>Methods block for a few seconds at most, and throw {@link ClusterException}; none retries.
 */
public interface LeaseStore {

    /** Reads the Lease; empty if it does not exist. */
    Optional<Lease> read();

    /** Writes the Lease; a conflict if it has changed since it was read, or if it exists and was not read. */
    Lease write(Lease lease);

    /**
     * The fields of a Lease.
     *
     * @param holder the leader; empty for none
     * @param duration how long others must not take it after they have seen it renewed
     * @param acquired when it got its holder, by the holder's clock
     * @param renewed when it was renewed, by the holder's clock: information for people
     * @param transitions how many times its holder has changed
     * @param resourceVersion its version; empty for a Lease that is yet to be created
     */
    record Lease(
            String holder,
            Duration duration,
            Instant acquired,
            Instant renewed,
            int transitions,
            String resourceVersion) {}

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
}
