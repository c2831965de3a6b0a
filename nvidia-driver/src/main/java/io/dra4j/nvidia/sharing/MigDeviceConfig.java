// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a MIG device.
 *
 * @param sharing its sharing by containers; null for none
 */
record MigDeviceConfig(@Nullable MigDeviceSharing sharing) {

    static final ConfigType<MigDeviceConfig> TYPE =
            ConfigType.builder(GpuConfig.API_VERSION, "MigDeviceConfig", MigDeviceConfig.class)
                    .defaults(() -> new MigDeviceConfig(null))
                    .appliesTo(device -> GpuConfig.isOfType(device, "mig"))
                    .validate(MigDeviceConfig::problems)
                    .build();

    /**
     * The sharing of a MIG device, which has no settings of time slicing.
     *
     * @param strategy {@code TimeSlicing} or {@code MPS}
     */
    record MigDeviceSharing(@Nullable String strategy, @Nullable MpsConfig mpsConfig) {}

    private List<String> problems() {
        return sharing == null ? List.of() : Strategy.problems(sharing.strategy());
    }
}
