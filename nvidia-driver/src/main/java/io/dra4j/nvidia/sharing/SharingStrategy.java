// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.nvidia.sharing.SharingSettings.StrategyName;
import io.dra4j.nvidia.state.SharingRecord;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A way to share devices, which changes the hardware or starts programs.
 *
 * <p>A group is recorded before {@link #apply}, with its targets and first state, under a lock that
 * no one holds while a strategy works; two conflicting groups are never both recorded. {@link
 * #undo} may come after a crash at any step, for a group that was recorded and not yet applied, and
 * more than once. All methods are thread-safe: claims are prepared and unprepared in parallel.
 */
public interface SharingStrategy {

    StrategyName strategy();

    /**
     * Ensures that the programs which a configuration needs are on the node, before a claim changes anything.
     *
     * @throws io.dra4j.api.error.DraException if one is not
     */
    default void requireThere(SharingSettings settings) {}

    /**
     * Returns what the strategy changes for a group; a group without targets is not recorded.
     *
     * @return UUIDs of GPUs and MIG devices
     * @throws io.dra4j.api.error.PrepareException if the devices can't be shared this way
     */
    List<String> targets(SharedGroup group);

    /** Returns the state that is recorded before {@link #apply}; null for none. */
    @Nullable
    ProviderState first(SharedGroup group);

    /**
     * Returns why two groups of this strategy can't have a target in common; empty if they can.
     *
     * @return a part of a sentence, after the target and the other claim
     */
    Optional<String> conflict(SharedGroup wanted, SharingRecord other);

    /**
     * Shares the devices of a group, before the context's deadline.
     *
     * @return what containers get with each device of the group
     * @throws io.dra4j.api.error.DraException if that fails; {@link #undo} comes next
     */
    ContainerEdits apply(SharedGroup group, SharingContext context);

    /**
     * Adopts what another driver has set for a group, so that {@link #undo} ends it; changes nothing yet.
     *
     * @return stores what is kept outside the journal, once the journal has the group
     * @throws io.dra4j.api.error.PrepareException if this strategy can't undo it
     */
    Runnable adopt(SharedGroup group);

    /** Remembers that another driver may have changed settings of GPUs, which a clean then undoes. */
    default void suspect(List<String> gpus) {}

    /** Restarts parts of applied groups, one after another, that have ended, for example by a fault. */
    interface Resumption {

        /**
         * Restarts what has ended of a group; its claim may be unprepared at the same time.
         *
         * @throws io.dra4j.api.error.DraException if that fails; a later round retries
         */
        void resume(ClaimRef claim, SharingRecord recorded);
    }

    /** Looks for parts that have ended, at the start and at each interval, after the prepared claims are known. */
    default Resumption resumption() {
        return (claim, recorded) -> {};
    }

    /**
     * Undoes a group's sharing, except {@linkplain SharingContext#putBack settings} that can't be restored now.
     *
     * <p>Targets to be left for others to undo are chosen, and {@linkplain SharingContext#release released}, under one
     * lock.
     *
     * @throws io.dra4j.api.error.DraException if something may be left; the claim stays held
     */
    void undo(SharingRecord recorded, SharingContext context);

    /**
     * Returns what belongs to no claim, so that {@link #clean} undoes it; changes nothing.
     *
     * @return a few words for each, such as {@code time slices of GPU-…}, by the UUID of the GPU or by
     *     the path of a directory
     */
    Map<String, String> leftOver(Holders holders);

    /**
     * Undoes what belongs to no claim: remains of claims whose records are lost.
     *
     * <p>It is called an interval after the start, when the claims are known, and after a claim without a record was
     * unprepared. Failures are logged, and retried by a later call.
     *
     * @param holders returns what is in use now; call it under the lock of what is undone
     * @param left to be run if a setting of a GPU can't be restored now
     * @return whether nothing else is left
     * @throws io.dra4j.api.error.DraException if the record of a claim can't be read
     */
    boolean clean(Supplier<Holders> holders, Runnable left);
}
