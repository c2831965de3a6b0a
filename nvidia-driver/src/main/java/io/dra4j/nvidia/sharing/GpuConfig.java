// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sharing of a whole GPU by its claims.
 *
 * @param sharing the strategy; null for none
 */
public record GpuConfig(@Nullable Sharing sharing) {

    static final String API_VERSION = "resource.nvidia.com/v1beta1";

    /** The kind of configuration, which fits whole GPUs. */
    public static final ConfigType<GpuConfig> TYPE =
            ConfigType.builder(API_VERSION, "GpuConfig", GpuConfig.class)
                    .defaults(() -> new GpuConfig(null))
                    .appliesTo(device -> isOfType(device, "gpu"))
                    .validate(GpuConfig::problems)
                    .build();

    static boolean isOfType(Device device, String type) {
        return AttributeValue.of(type).equals(device.attributes().get("type"));
    }

    private List<String> problems() {
        return sharing == null ? List.of() : sharing.problems();
    }
}
