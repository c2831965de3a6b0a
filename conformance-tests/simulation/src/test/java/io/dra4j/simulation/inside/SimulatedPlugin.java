// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.inside;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.kubelet.PluginSockets;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.simulation.node.Plugin;
import io.dra4j.simulation.schedule.Simulation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Replaces {@code KubeletPlugin}: the kubelet calls it without sockets. */
public final class SimulatedPlugin implements AutoCloseable, Plugin {

    private static final Duration GRACE = Duration.ofSeconds(3);

    private final ClaimOperations operations;
    private final @Nullable HealthFeed health;
    private boolean isPublished;
    private int inFlight; // calls

    private SimulatedPlugin(ClaimOperations operations, @Nullable HealthFeed health) {
        this.operations = operations;
        this.health = health;
    }

    public static SimulatedPlugin start(
            PluginSockets sockets,
            ClaimOperations operations,
            @Nullable HealthFeed health,
            Meters meters,
            InstantSource clock) {
        return new SimulatedPlugin(operations, health);
    }

    public void publish() {
        isPublished = true;
        Replaced.host().publish(this);
    }

    public void look() {}

    public boolean awaitRegistered(Duration timeout) {
        return isPublished;
    }

    public boolean isRegistered() {
        return isPublished;
    }

    /** Waits for calls in flight, as many seconds as {@code KubeletPlugin} does. */
    @Override
    public void close() {
        if (health != null) {
            health.close();
        }
        isPublished = false;
        Replaced.host().withdraw(this);
        Simulation.await(() -> inFlight == 0, GRACE.toNanos());
    }

    @Override
    public Map<ClaimRef, Answer> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
        Map<ClaimRef, Answer> answers = new LinkedHashMap<>();
        served(() -> operations.prepare(claims, onNode(deadline), hasLeft))
                .forEach((claim, outcome) -> answers.put(claim, answer(outcome)));
        return answers;
    }

    /** Calls carry the time left, not the deadline, and the node's clock may be wrong. */
    private static Instant onNode(Instant deadline) {
        return Simulation.clock().plus(Duration.between(Simulation.now(), deadline));
    }

    private <T> T served(Supplier<T> call) {
        inFlight++;
        try {
            return call.get();
        } finally {
            inFlight--;
        }
    }

    private static Answer answer(PrepareOutcome outcome) {
        if (outcome instanceof PrepareOutcome.Failed failed) {
            return new Answer(failed.message(), List.of());
        }
        return new Answer(
                null,
                ((PrepareOutcome.Prepared) outcome)
                        .devices().stream()
                                .map(d -> new Device(d.pool(), d.device(), d.cdiDeviceIds(), d.shareId()))
                                .toList());
    }

    @Override
    public Map<String, Answer> unprepare(List<String> uids, Instant deadline) {
        Map<String, Answer> answers = new LinkedHashMap<>();
        served(() -> operations.unprepare(uids, onNode(deadline)))
                .forEach((uid, outcome) -> answers.put(uid, answer(outcome)));
        return answers;
    }

    private static Answer answer(UnprepareOutcome outcome) {
        return new Answer(outcome instanceof UnprepareOutcome.Failed failed ? failed.message() : null, List.of());
    }
}
