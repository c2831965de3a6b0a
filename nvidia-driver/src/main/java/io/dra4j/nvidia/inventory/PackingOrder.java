// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Device;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Map.Entry;

/**
 * The order of a GPU's on-demand MIG devices; the scheduler allocates the first that fits.
 *
 * <p>Small profiles come first: a claim for any of them gets no more than it needs. Within a
 * profile, placements are taken from the first memory slice up, except for profiles with fewer
 * compute slices than memory slices, which are placed from the last one down. Boards with eight
 * memory slices have seven compute slices: only such instances can use the last memory slice, and
 * the other half stays free for instances of four slices, which have only one placement.
 *
 * <p>Over many sequences of claims, more are accepted than in the order of names, though not in
 * each sequence: a large claim that the order of names rejects leaves less room for later small
 * ones. Boards whose profiles all have a compute slice for each memory slice, such as the A30, are
 * filled in the order of names.
 */
final class PackingOrder {

    private PackingOrder() {}

    static Map<Device, Offer> of(Map<Device, Offer> devices) {
        Map<Device, Offer> ordered = new LinkedHashMap<>();
        devices.entrySet().stream()
                .sorted(Comparator.comparing(PackingOrder::onDemand, smallFirst()))
                .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
        return ordered;
    }

    private static OnDemand onDemand(Entry<Device, Offer> entry) {
        return (OnDemand) entry.getValue();
    }

    private static Comparator<OnDemand> smallFirst() {
        return Comparator.<OnDemand>comparingInt(mig -> mig.placement().size())
                .thenComparingInt(mig -> mig.profile().slices())
                .thenComparingInt(mig -> mig.profile().index())
                .thenComparingInt(PackingOrder::position);
    }

    private static int position(OnDemand mig) {
        int start = mig.placement().start();
        return mig.profile().slices() < mig.placement().size() ? -start : start;
    }
}
