// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.Progress;
import io.dra4j.api.claim.ProviderState;
import java.time.Instant;

/** The progress of a claim of fake GPUs: there is none, and no end to the time. */
final class NothingToRecord implements Progress {

    @Override
    public void record(ProviderState state) {
        throw new AssertionError("A fake GPU has nothing to record");
    }

    @Override
    public Instant deadline() {
        return Instant.MAX;
    }
}
