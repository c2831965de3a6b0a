// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import java.time.Instant;
import java.util.Optional;

/** Brings a part of the cluster one step closer to the state that its objects request. */
interface Controller {

    /**
     * Does what is to be done now; it is called again after each change of any object.
     *
     * @return when it wants to be called although nothing changes; empty for never
     */
    Optional<Instant> reconcile(Instant now);

    /** The earlier of two times, of which each may not be there. */
    static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.or(() -> other);
        }
        return one.get().isBefore(other.get()) ? one : other;
    }
}
