// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a whole GPU.
 *
 * @param sharing its sharing by containers; null for none
 */
record GpuConfig(@Nullable GpuSharing sharing) {

    static final String API_VERSION = "resource.nvidia.com/v1beta1";

    static final ConfigType<GpuConfig> TYPE =
            ConfigType.builder(API_VERSION, "GpuConfig", GpuConfig.class)
                    .defaults(() -> new GpuConfig(null))
                    .appliesTo(device -> isOfType(device, "gpu"))
                    .validate(GpuConfig::problems)
                    .build();

    /**
     * The sharing of a whole GPU.
     *
     * @param strategy {@code TimeSlicing} or {@code MPS}
     */
    record GpuSharing(
            @Nullable String strategy,
            @Nullable TimeSlicingConfig timeSlicingConfig,
            @Nullable MpsConfig mpsConfig) {}

    /**
     * The settings of time slicing.
     *
     * @param interval {@code Default}, {@code Short}, {@code Medium} or {@code Long}
     */
    record TimeSlicingConfig(@Nullable String interval) {}

    static boolean isOfType(Device device, String type) {
        return AttributeValue.of(type).equals(device.attributes().get("type"));
    }

    private List<String> problems() {
        return sharing == null ? List.of() : Strategy.problems(sharing.strategy());
    }
}
