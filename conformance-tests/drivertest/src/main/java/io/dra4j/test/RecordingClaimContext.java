// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ProviderState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A context of one prepare or unprepare that keeps checkpoints in memory. Thread-safe. */
public final class RecordingClaimContext implements ClaimContext {

    /** The time for which a kubelet waits. */
    static final Duration LIMIT = Duration.ofSeconds(45);

    private final Instant deadline;
    private final Consumer<ProviderState> onCheckpoint;
    private final List<ProviderState> checkpoints = new CopyOnWriteArrayList<>();

    /** Creates a context whose deadline is in 45 seconds, by the clock of the system. */
    public RecordingClaimContext() {
        this(Instant.now().plus(LIMIT));
    }

    /**
     * Creates a context.
     *
     * @param deadline the time until which the kubelet waits
     */
    public RecordingClaimContext(Instant deadline) {
        this(deadline, state -> {});
    }

    RecordingClaimContext(Instant deadline, Consumer<ProviderState> onCheckpoint) {
        this.deadline = Objects.requireNonNull(deadline, "deadline");
        this.onCheckpoint = onCheckpoint;
    }

    @Override
    public Instant deadline() {
        return deadline;
    }

    @Override
    public void checkpoint(ProviderState state) {
        checkpoints.add(Objects.requireNonNull(state, "state"));
        onCheckpoint.accept(state);
    }

    /** {@return all checkpoints, in their order} */
    public List<ProviderState> checkpoints() {
        return List.copyOf(checkpoints);
    }

    /** {@return the last checkpoint; empty if there is none} */
    public Optional<ProviderState> lastCheckpoint() {
        List<ProviderState> all = checkpoints();
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
    }
}
