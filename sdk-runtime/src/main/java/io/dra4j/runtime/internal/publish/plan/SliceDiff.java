// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Placement;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Finds the fewest writes that make a pool in the cluster equal to its plan, in order.
 *
 * <p>Consumers consider a pool complete if it has as many slices of its newest generation as each states in {@code
 * resourceSliceCount}; they ignore older ones. So that none ever sees a complete pool that is half old and half new,
 * the writes continue in the current generation only
 *
 * <ul>
 *   <li>if the pool is complete, stays as large, and only one slice changes, or
 *   <li>if it is incomplete and stays so until the last write.
 * </ul>
 *
 * <p>Otherwise a new generation begins and each slice is written once. Deletes come first. Nothing is written if
 * nothing differs, even after a restart, since all state is in the cluster.
 */
public final class SliceDiff {

    /** No driver counts that far: a higher generation, of another client, leaves no room for a next. */
    private static final long LAST_GENERATION = Long.MAX_VALUE / 2;

    private final List<Stored> obsolete = new ArrayList<>();
    private final Map<Integer, Stored> kept = new HashMap<>();
    private final List<PlannedSlice> plan;
    private final long newest;

    private SliceDiff(Collection<Stored> existing, List<PlannedSlice> plan, TaintTimes before) {
        newest = existing.stream()
                .mapToLong(s -> s.content().generation())
                .filter(generation -> generation < LAST_GENERATION)
                .max()
                .orElse(0);
        TaintTimes times = before.and(existing);
        this.plan = plan.stream()
                .map(slice -> new PlannedSlice(slice.index(), times.keptIn(slice.content())))
                .toList();
        match(existing);
    }

    /**
     * Compares.
     *
     * @param existing the slices of the pool in the cluster
     * @param plan the slices that it should have; none to withdraw the pool
     * @param before the start times of taints that the cluster may no longer have
     */
    public static List<SliceWrite> between(Collection<Stored> existing, List<PlannedSlice> plan, TaintTimes before) {
        return new SliceDiff(existing, plan, before).writes();
    }

    private void match(Collection<Stored> existing) {
        Map<Integer, Content> planned = new HashMap<>();
        plan.forEach(slice -> planned.put(slice.index(), slice.content()));
        existing.stream().sorted(Comparator.comparing(Stored::name)).forEach(slice -> {
            OptionalInt index = PlannedSlice.indexOf(slice.name());
            if (index.isEmpty()
                    || !canBecome(slice, planned.get(index.getAsInt()))
                    || kept.putIfAbsent(index.getAsInt(), slice) != null) {
                obsolete.add(slice);
            }
        });
    }

    /** The API allows no update from a slice of one node to one of several, or back. */
    private static boolean canBecome(Stored slice, @Nullable Content content) {
        return content != null
                && slice.content().generation() < LAST_GENERATION
                && slice.content().placement() instanceof Placement.ThisNode
                        == content.placement() instanceof Placement.ThisNode;
    }

    private List<SliceWrite> writes() {
        long generation = canContinue() ? newest : newest + 1;
        List<SliceWrite> present = new ArrayList<>();
        List<SliceWrite> older = new ArrayList<>();
        List<SliceWrite> creates = new ArrayList<>();
        for (PlannedSlice slice : plan) {
            Content content = slice.content().at(generation, plan.size());
            Stored stored = kept.get(slice.index());
            if (stored == null) {
                creates.add(new SliceWrite.Create(slice.index(), content));
            } else if (!stored.content().equals(content) || !stored.isOurs()) {
                (stored.content().generation() == newest ? present : older).add(new SliceWrite.Update(stored, content));
            }
        }
        List<SliceWrite> all = new ArrayList<>();
        obsolete.forEach(slice -> all.add(new SliceWrite.Delete(slice)));
        all.addAll(present);
        all.addAll(older);
        all.addAll(creates);
        return all;
    }

    private boolean canContinue() {
        List<PlannedSlice> present = plan.stream()
                .filter(slice -> kept.containsKey(slice.index()))
                .filter(slice -> stored(slice).generation() == newest)
                .toList();
        if (present.isEmpty() || present.stream().anyMatch(s -> stored(s).sliceCount() != plan.size())) {
            return false;
        }
        long changed = present.stream()
                .filter(s -> !stored(s).equals(s.content().at(newest, plan.size())))
                .count();
        return present.size() < plan.size() || changed <= 1;
    }

    private Content stored(PlannedSlice slice) {
        return kept.get(slice.index()).content();
    }
}
