// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Device;
import io.dra4j.nvidia.inventory.Offer.ToBeMade;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The order in which parts of a GPU should be taken, since the scheduler takes the first that fits.
 *
 * <p>Within a profile, the place goes first that spoils the fewest places of other profiles: a
 * small instance then goes where a large one could not be anyway. Profiles keep their order.
 */
final class PackingOrder {

    private PackingOrder() {}

    static Map<Device, Offer> of(Map<Device, Offer> parts) {
        List<ToBeMade> all = new ArrayList<>();
        parts.values().forEach(offer -> all.add((ToBeMade) offer));
        Comparator<Map.Entry<Device, Offer>> byProfile =
                Comparator.comparing(entry -> ((ToBeMade) entry.getValue()).profile().index());
        Comparator<Map.Entry<Device, Offer>> bySpoiled =
                Comparator.comparing(entry -> spoiled((ToBeMade) entry.getValue(), all));
        Comparator<Map.Entry<Device, Offer>> fromTheEnd =
                Comparator.comparing(entry -> -((ToBeMade) entry.getValue()).placement().start());
        Map<Device, Offer> ordered = new LinkedHashMap<>();
        parts.entrySet().stream()
                .sorted(byProfile.thenComparing(bySpoiled).thenComparing(fromTheEnd))
                .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
        return ordered;
    }

    /** The slices of the instances that could not be made any more. */
    private static int spoiled(ToBeMade one, List<ToBeMade> all) {
        return all.stream()
                .filter(other -> !isSame(one.profile(), other.profile()))
                .filter(other -> overlaps(one.placement(), other.placement()))
                .mapToInt(other -> other.profile().slices())
                .sum();
    }

    private static boolean isSame(MigProfile one, MigProfile other) {
        return one.index() == other.index();
    }

    private static boolean overlaps(Placement one, Placement other) {
        return one.overlaps(other);
    }
}
