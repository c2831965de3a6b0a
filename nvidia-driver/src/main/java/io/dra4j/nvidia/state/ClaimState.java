// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.state.ClaimState.StateForm.Part;
import io.dra4j.nvidia.state.ClaimState.StateForm.Shared;
import io.dra4j.runtime.RecordState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The recorded state of a claim.
 *
 * @param mig the state of its MIG devices, in {@code mig}'s own form; null if there were none
 * @param sharing its sharing, in the order in which it was begun
 * @param lent the GPUs that it has taken from NVIDIA's driver, in {@code vfio}'s own form; null if there were none
 * @param partition its partition of the fabric, in {@code fabric}'s own form; null if it has none
 */
public record ClaimState(
        @Nullable ProviderState mig,
        List<SharingRecord> sharing,
        @Nullable ProviderState lent,
        @Nullable ProviderState partition) {

    /** The state of a claim for which nothing was begun. */
    public static final ClaimState NONE = new ClaimState(null, List.of(), null, null);

    private static final RecordState<StateForm> FORM = RecordState.of(5, StateForm.class);

    public ClaimState {
        sharing = List.copyOf(sharing);
    }

    /**
     * Reads the recorded state.
     *
     * @param recorded null if nothing was ever begun
     * @throws io.dra4j.api.error.DraException if a newer driver wrote it, or it is damaged
     */
    public static ClaimState read(@Nullable ProviderState recorded) {
        if (recorded == null) {
            return NONE;
        }
        StateForm form = FORM.read(recorded);
        return new ClaimState(
                form.mig() == null ? null : form.mig().toState(),
                form.sharing().stream().map(Shared::toRecord).toList(),
                form.lent() == null ? null : form.lent().toState(),
                form.partition() == null ? null : form.partition().toState());
    }

    public ProviderState toProviderState() {
        return FORM.write(new StateForm(
                Part.of(mig), sharing.stream().map(Shared::of).toList(), Part.of(lent), Part.of(partition)));
    }

    public boolean isEmpty() {
        return equals(NONE);
    }

    ClaimState withMig(ProviderState changed) {
        return new ClaimState(changed, sharing, lent, partition);
    }

    ClaimState withLent(@Nullable ProviderState changed) {
        return new ClaimState(mig, sharing, changed, partition);
    }

    ClaimState withPartition(@Nullable ProviderState changed) {
        return new ClaimState(mig, sharing, lent, changed);
    }

    ClaimState with(SharingRecord changed) {
        List<SharingRecord> all = new ArrayList<>(sharing);
        all.replaceAll(one -> one.group().equals(changed.group()) ? changed : one);
        if (!all.contains(changed)) {
            all.add(changed);
        }
        return new ClaimState(mig, all, lent, partition);
    }

    ClaimState without(String group) {
        return new ClaimState(
                mig, sharing.stream().filter(one -> !one.group().equals(group)).toList(), lent, partition);
    }

    /** A claim's state as JSON. */
    record StateForm(
            @Nullable Part mig,
            List<Shared> sharing,
            @Nullable Part lent,
            @Nullable Part partition) {

        private static final JsonMapper JSON = new JsonMapper();

        /** A part with its own version. */
        record Part(int version, JsonNode state) {

            static @Nullable Part of(@Nullable ProviderState state) {
                try {
                    return state == null ? null : new Part(state.version(), JSON.readTree(state.rawJson()));
                } catch (JsonProcessingException e) {
                    throw new DraException("A part of a claim's state is not JSON: " + state, e);
                }
            }

            ProviderState toState() {
                return new ProviderState(version, state.toString());
            }
        }

        record Shared(
                String group,
                String strategy,
                List<String> targets,
                @Nullable Part state) {

            static Shared of(SharingRecord one) {
                return new Shared(one.group(), one.strategy(), one.targets(), Part.of(one.state()));
            }

            SharingRecord toRecord() {
                return new SharingRecord(group, strategy, targets, state == null ? null : state.toState());
            }
        }
    }
}
