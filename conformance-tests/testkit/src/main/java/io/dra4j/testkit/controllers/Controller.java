// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import java.time.Instant;
import java.util.Optional;

/** Brings a part of the cluster one step closer to the state that its objects request. */
interface Controller {

    /** Takes the next step, as after each change of any object; returns when to call it without a change. */
    Optional<Instant> reconcile(Instant now);

    /** The earlier of two times, each of which may be missing. */
    static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.or(() -> other);
        }
        return one.get().isBefore(other.get()) ? one : other;
    }
}
