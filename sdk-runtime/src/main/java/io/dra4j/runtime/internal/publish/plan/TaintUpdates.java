// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Finds the updates of taints in a pool that is known from the cluster alone.
 *
 * <p>Each slice that differs is updated by itself, and keeps its generation. Consumers need a new one so as not to take
 * half of an old pool and half of a new one for a whole; taints of one device say nothing about another. And a new
 * generation that is interrupted would leave the pool incomplete, which nothing could complete.
 */
public final class TaintUpdates {

    private TaintUpdates() {}

    /**
     * Returns the updates.
     *
     * @param slices the slices of a pool, all of them decoded
     * @param taints puts the taints on a device that it should have, and changes nothing else
     * @param before when taints began that the cluster may not have any more
     */
    public static List<SliceWrite> of(Collection<Stored> slices, UnaryOperator<Device> taints, TaintTimes before) {
        TaintTimes times = before.and(slices);
        List<SliceWrite> updates = new ArrayList<>();
        for (Stored slice : slices) {
            Content content = slice.content();
            Content tainted = times.keptIn(
                    content.withDevices(content.devices().stream().map(taints).toList()));
            if (!tainted.equals(content)) {
                updates.add(new SliceWrite.Update(slice, tainted));
            }
        }
        return updates;
    }

    /**
     * Returns the updates for a server that keeps no taints.
     *
     * <p>Devices that would lose one that keeps workloads away are withdrawn.
     */
    public static List<SliceWrite> withdrawals(Collection<Stored> slices, UnaryOperator<Device> taints) {
        List<SliceWrite> updates = new ArrayList<>();
        for (Stored slice : slices) {
            List<Device> left = slice.content().devices().stream()
                    .filter(device -> isAsGuarded(device, taints.apply(device)))
                    .toList();
            if (left.size() < slice.content().devices().size()) {
                updates.add(new SliceWrite.Update(slice, slice.content().withDevices(left)));
            }
        }
        return updates;
    }

    private static boolean isAsGuarded(Device stored, Device tainted) {
        return Feature.TAINTS.guard(stored).equals(Feature.TAINTS.guard(tainted));
    }
}
