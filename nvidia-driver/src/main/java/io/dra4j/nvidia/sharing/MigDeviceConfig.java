// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sharing of a MIG device by its claims.
 *
 * @param sharing the strategy; null for none
 */
public record MigDeviceConfig(@Nullable Sharing sharing) {

    /** The kind of configuration, which fits MIG devices. */
    public static final ConfigType<MigDeviceConfig> TYPE =
            ConfigType.builder(GpuConfig.API_VERSION, "MigDeviceConfig", MigDeviceConfig.class)
                    .defaults(() -> new MigDeviceConfig(null))
                    .appliesTo(device -> GpuConfig.isOfType(device, "mig"))
                    .validate(MigDeviceConfig::problems)
                    .build();

    private List<String> problems() {
        return sharing == null ? List.of() : sharing.problems();
    }
}
