// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** Checks the clock of this machine against the API server's. */
record LocalClock(ClusterView cluster, InstantSource clock) implements Check {

    /** The date of an answer has seconds, and is on its way for some. */
    private static final Duration TOLERATED = Duration.ofSeconds(30);

    @Override
    public String id() {
        return "clock";
    }

    @Override
    public Result look() {
        Instant server = cluster.api().get("version").date();
        if (server == null) {
            throw new NotCheckedException("the API server's answers have no date");
        }
        Duration ahead = Duration.between(server, clock.instant());
        return ahead.abs().compareTo(TOLERATED) <= 0
                ? Result.healthy("the API server's time, within %d s".formatted(TOLERATED.toSeconds()))
                : new Result("", List.of(ClockFinding.of("node/" + cluster.node(), ahead)));
    }
}
