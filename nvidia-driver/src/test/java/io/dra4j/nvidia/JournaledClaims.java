// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The claims of a provider, with the journal of a runtime; calls can be cut off as by a crash. */
final class JournaledClaims {

    /** Ends a call as a crash does. */
    static final class Crash extends Error {
        private static final long serialVersionUID = 1;
    }

    boolean changedNothing; // the last prepare, as the provider said before
    final List<HeldClaim> held = new CopyOnWriteArrayList<>();
    Duration timeout = Duration.ofSeconds(30);
    private int crashAt;
    private int checkpoints;

    /** Lets the next call crash at a checkpoint, by its number from 1, or after it, by the negative; 0 for never. */
    void crashAt(int checkpoint) {
        crashAt = checkpoint;
        checkpoints = 0;
    }

    /** Prepares a claim; one that fails is unprepared, and one that crashes is not. */
    PreparedClaim prepare(NvidiaDeviceProvider provider, AllocatedClaim claim) {
        try {
            return begin(provider, claim);
        } catch (RuntimeException e) {
            unprepare(provider, claim.ref());
            throw e;
        }
    }

    /** Prepares a claim; one that fails stays as far as it has come. */
    PreparedClaim begin(NvidiaDeviceProvider provider, AllocatedClaim claim) {
        HeldClaim begun = HeldClaim.builder(claim.ref())
                .phase(Phase.PREPARING)
                .devices(claim.devices().stream().map(AllocatedDevice::held).toList())
                .build();
        held.add(begun);
        boolean changesNothing = provider.changesNothing(claim);
        changedNothing = changesNothing; // until another claim's
        PreparedClaim prepared = provider.prepare(claim, context(claim.ref()));
        ProviderState answered = prepared.state();
        ProviderState state = answered == null ? of(claim.ref()).state() : answered;
        assertThat(state == null || !changesNothing).as("no state to keep").isTrue();
        replace(begun.toBuilder().phase(Phase.PREPARED).state(state).build());
        return prepared;
    }

    void unprepare(NvidiaDeviceProvider provider, ClaimRef ref) {
        HeldClaim claim = of(ref);
        provider.unprepare(claim, context(ref));
        held.removeIf(one -> one.ref().equals(ref));
    }

    HeldClaim of(ClaimRef ref) {
        return held.stream().filter(one -> one.ref().equals(ref)).findFirst().orElseThrow();
    }

    void replace(HeldClaim changed) {
        held.replaceAll(one -> one.ref().equals(changed.ref()) ? changed : one);
    }

    private ClaimContext context(ClaimRef ref) {
        Instant deadline = Instant.now().plus(timeout);
        return new ClaimContext() {
            @Override
            public Instant deadline() {
                return deadline;
            }

            @Override
            public void checkpoint(ProviderState state) {
                checkpoints++;
                if (checkpoints == crashAt) {
                    throw new Crash();
                }
                replace(of(ref).toBuilder().state(state).build());
                if (checkpoints == -crashAt) {
                    throw new Crash();
                }
            }
        };
    }
}
