// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import java.time.Instant;
import java.time.InstantSource;

/** A clock on which each step of a search takes a microsecond, regardless of the machine. */
public final class StepClock implements InstantSource {
    private long steps;

    @Override
    public Instant instant() {
        return Instant.ofEpochSecond(0, ++steps * 1000);
    }
}
