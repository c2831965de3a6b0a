// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import java.time.Instant;
import java.time.InstantSource;

/** The time at which a scheduler gives up on a node. */
record NodeDeadline(InstantSource clock, Instant end, String node) {

    void check() {
        if (clock.instant().isAfter(end)) {
            throw new AttemptException("node %s: timed out trying to allocate devices".formatted(node));
        }
    }
}
