// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Quantity;
import java.util.Locale;

/** The limits of a share of a device, as environment variables: programs keep to them by themselves. */
public final class ShareLimits {

    private ShareLimits() {}

    /**
     * Adds to a device's edits how much of its memory the claim has, in bytes: {@code NVIDIA_SHARE_MEMORY_GPU_0} for
     * the device {@code gpu-0}. A device without shares, and a share that was allocated no memory, has none.
     */
    public static ContainerEdits add(AllocatedDevice device, ContainerEdits edits) {
        Quantity memory = device.consumedCapacity().get("memory");
        if (device.shareId() == null || memory == null || memory.amount().signum() <= 0) {
            return edits;
        }
        String name = device.device().value().replace('-', '_').toUpperCase(Locale.ROOT);
        return edits.toBuilder()
                .env(
                        "NVIDIA_SHARE_MEMORY_" + name,
                        memory.amount().toBigInteger().toString())
                .build();
    }
}
