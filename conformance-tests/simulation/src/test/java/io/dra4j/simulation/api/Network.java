// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import io.dra4j.simulation.schedule.Simulation;
import java.time.Duration;

/** The network between the clients and the server: decides the fate of each request. */
public interface Network {

    Fate fate(Call call);

    /** Returns how long after its write the server sends an event of a watch. */
    default Duration lag() {
        return Duration.ZERO;
    }

    /** Draws how long a request or a piece of an answer is on its way. */
    default Duration latency() {
        return Duration.ofNanos(Simulation.random().nextInt(100_000, 2_000_000));
    }
}
