// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The journal's record of one claim.
 *
 * <p>A line that lacks one of its members counts as damaged: creating a record from it fails.
 *
 * @param bootId the boot in which the record's preparation began
 * @param state the last state that the provider recorded or returned
 * @param results the results of the preparation; only of a prepared claim
 * @param unprepareSkipped true if the kubelet never asks to unprepare the claim; else {@code null}
 * @param damaged true if the claim was damaged before it was unprepared; else {@code null}
 * @param pods the pods that the claim was reserved for when its preparation began; {@code null} if none is known
 */
public record ClaimRecord(
        ClaimRef ref,
        Phase phase,
        String bootId,
        List<HeldDevice> devices,
        @Nullable ProviderState state,
        @JsonProperty("answer") @Nullable Results results,
        @Nullable Boolean unprepareSkipped,
        @Nullable Boolean damaged,
        @Nullable List<String> pods) {

    public ClaimRecord {
        Objects.requireNonNull(ref, "ref");
        Objects.requireNonNull(phase, "phase");
        Objects.requireNonNull(bootId, "bootId");
        devices = List.copyOf(devices);
        pods = pods == null || pods.isEmpty() ? null : List.copyOf(pods);
    }

    /** Returns the record of a claim whose own record is damaged or lost. */
    public static ClaimRecord damaged(ClaimRef ref, String bootId, List<HeldDevice> devices) {
        return new ClaimRecord(ref, Phase.DAMAGED, bootId, devices, null, null, null, null, null);
    }

    public ClaimRecord withState(ProviderState recorded) {
        return new ClaimRecord(ref, phase, bootId, devices, recorded, results, unprepareSkipped, damaged, pods);
    }

    public ClaimRecord prepared(@Nullable ProviderState last, Results answer) {
        return new ClaimRecord(ref, Phase.PREPARED, bootId, devices, last, answer, unprepareSkipped, null, pods);
    }

    public ClaimRecord unpreparing() {
        return new ClaimRecord(
                ref,
                Phase.UNPREPARING,
                bootId,
                devices,
                state,
                null,
                unprepareSkipped,
                phase == Phase.DAMAGED ? Boolean.TRUE : damaged,
                pods);
    }

    public boolean isUnprepareSkipped() {
        return unprepareSkipped != null;
    }

    /**
     * Returns the claim as a provider sees it in a boot: a damaged claim stays so while it is
     * unprepared, since lost state must not be mistaken for no state.
     */
    public HeldClaim held(String presentBootId) {
        return HeldClaim.builder(ref)
                .phase(damaged == null ? phase : Phase.DAMAGED)
                .beforeReboot(!bootId.equals(presentBootId))
                .devices(devices)
                .state(state)
                .build();
    }

    /**
     * The results for the kubelet and the containers, which can be returned again without the provider.
     *
     * @param edits what every container of the claim receives
     */
    public record Results(List<ResultDevice> devices, ContainerEdits edits) {
        public Results {
            Objects.requireNonNull(edits, "edits");
            devices = List.copyOf(devices);
        }
    }

    /**
     * One device of the results.
     *
     * @param cdiDeviceIds ids of CDI devices whose specs the driver maintains itself
     */
    public record ResultDevice(HeldDevice device, ContainerEdits edits, List<String> cdiDeviceIds) {
        public ResultDevice {
            Objects.requireNonNull(device, "device");
            Objects.requireNonNull(edits, "edits");
            cdiDeviceIds = List.copyOf(cdiDeviceIds);
        }
    }
}
