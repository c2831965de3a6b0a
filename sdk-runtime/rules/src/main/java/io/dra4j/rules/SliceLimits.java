// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/**
 * The size limits of slices and their devices that changed between releases.
 *
 * @param taints taints per device
 * @param counterSets counter sets per slice
 * @param setCounters counters of one set, and counters of it that one device consumes
 * @param consumedSets counter sets that one device consumes from
 * @param complexDevices devices of a slice in which any device has taints, consumes counters or (1.36) has lists
 * @param attributeValues attribute values per device, counting each list item
 * @param sharedCounters counters of all sets of a slice together
 * @param deviceCounters counters that one device consumes, of all sets together
 * @param sliceCounters counters that all devices of a slice consume together
 */
public record SliceLimits(
        int taints,
        int counterSets,
        int setCounters,
        int consumedSets,
        int complexDevices,
        int attributeValues,
        int sharedCounters,
        int deviceCounters,
        int sliceCounters) {
    /** The maximum number of devices of a slice. */
    public static final int DEVICES = 128;

    static final int ATTRIBUTES_AND_CAPACITIES = 32;

    private static final int NONE = Integer.MAX_VALUE;

    public static SliceLimits of(KubernetesVersion version) {
        return switch (version) {
            case V1_34 -> new SliceLimits(4, NONE, NONE, NONE, DEVICES, NONE, 32, 32, 1024);
            case V1_35 -> new SliceLimits(16, 8, 32, 2, 64, NONE, NONE, NONE, NONE);
            case V1_36, V1_37, V1_38 -> new SliceLimits(16, 8, 32, 2, 64, 48, NONE, NONE, NONE);
        };
    }
}
