// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process whose operations are recorded, and end as a test specifies. */
final class ScriptedOwner implements Owner {

    final List<String> operations = new ArrayList<>();
    final Deque<Outcome> next = new ArrayDeque<>();

    @Nullable
    Error death;

    private long time;

    /** Fails the next operation before it does anything. */
    void fail(IOException failure) {
        next.add(new Outcome(0, failure));
    }

    @Override
    public Outcome before(DiskOperation operation) throws IOException {
        operations.add(operation.toString());
        if (death != null) {
            throw death;
        }
        Outcome outcome = next.isEmpty() ? Outcome.ALL : next.remove();
        if (outcome.bytes() == 0 && outcome.failure() != null) {
            throw outcome.failure();
        }
        return outcome;
    }

    @Override
    public Instant now() {
        return Instant.ofEpochMilli(time++);
    }
}
