// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Device;
import io.dra4j.nvidia.inventory.Offer.ToBeMade;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Map.Entry;

/**
 * The order in which parts of a GPU should be taken, since the scheduler takes the first that fits.
 *
 * <p>Small profiles come first: a claim that takes any of them gets no more than it needs. Within a
 * profile, places are taken from the first memory slice up, but by profiles that have fewer compute
 * slices than memory slices: those are placed from the last one down. Boards with eight memory
 * slices have seven compute slices, so that the last memory slice is of use to such instances
 * alone, and then costs nothing; and the other half stays free for the instances of four slices,
 * which have but one place.
 *
 * <p>Over many sequences of claims, more are accepted than in the order of names. It cannot be so
 * for each: where a large claim is accepted that the order of names refuses, there is less room for
 * small ones that come later. Boards whose profiles all have a compute slice for each memory slice,
 * such as the A30, are filled as in the order of names.
 */
final class PackingOrder {

    private PackingOrder() {}

    static Map<Device, Offer> of(Map<Device, Offer> parts) {
        Map<Device, Offer> ordered = new LinkedHashMap<>();
        parts.entrySet().stream()
                .sorted(Comparator.comparing(PackingOrder::part, smallFirst()))
                .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
        return ordered;
    }

    private static ToBeMade part(Entry<Device, Offer> entry) {
        return (ToBeMade) entry.getValue();
    }

    private static Comparator<ToBeMade> smallFirst() {
        return Comparator.<ToBeMade>comparingInt(part -> part.placement().size())
                .thenComparingInt(part -> part.profile().slices())
                .thenComparingInt(part -> part.profile().index())
                .thenComparingInt(PackingOrder::turn);
    }

    private static int turn(ToBeMade part) {
        int start = part.placement().start();
        return part.profile().slices() < part.placement().size() ? -start : start;
    }
}
