// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.nvidia.gates.NvidiaGates;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a whole GPU.
 *
 * @param sharing its sharing by containers; null for none
 */
record GpuConfig(@Nullable GpuSharing sharing) implements DeviceConfig {

    static final String API_VERSION = "resource.nvidia.com/v1beta1";

    static ConfigType<GpuConfig> type(NvidiaGates gates) {
        SharingRules rules = new SharingRules(gates);
        return ConfigType.builder(API_VERSION, "GpuConfig", GpuConfig.class)
                .defaults(() -> new GpuConfig(null))
                .appliesTo(device -> isOfType(device, "gpu"))
                .normalize(config -> config.normalized(rules))
                .validate(config -> config.problems(rules))
                .changesDevice(config -> config.sharing() != null)
                .build();
    }

    /**
     * The sharing of a whole GPU.
     *
     * @param strategy {@code TimeSlicing} or {@code MPS}
     */
    record GpuSharing(
            @Nullable String strategy,
            @Nullable TimeSlicingConfig timeSlicingConfig,
            @Nullable MpsConfig mpsConfig) {

        GpuSharing normalized(SharingRules rules) {
            TimeSlicingConfig slices = timeSlicingConfig;
            MpsConfig mps = mpsConfig;
            if (rules.allows(strategy, StrategyName.TimeSlicing) && (slices == null || slices.interval() == null)) {
                slices = new TimeSlicingConfig(TimeSliceInterval.Default.name());
            }
            if (rules.allows(strategy, StrategyName.MPS) && mps == null) {
                mps = MpsConfig.EMPTY;
            }
            return new GpuSharing(strategy, slices, mps);
        }
    }

    static boolean isOfType(Device device, String type) {
        return AttributeValue.of(type).equals(device.attributes().get("type"));
    }

    private GpuConfig normalized(SharingRules rules) {
        return sharing == null ? this : new GpuConfig(sharing.normalized(rules));
    }

    private List<String> problems(SharingRules rules) {
        return sharing == null
                ? List.of()
                : rules.problems(sharing.strategy(), sharing.timeSlicingConfig(), sharing.mpsConfig());
    }

    @Override
    public @Nullable SharingSettings settings() {
        if (sharing == null) {
            return null;
        }
        TimeSlicingConfig slices = sharing.timeSlicingConfig();
        return new SharingSettings(
                StrategyName.of(sharing.strategy()).orElseThrow(),
                slices == null ? null : TimeSliceInterval.of(slices.interval()).orElseThrow(),
                sharing.mpsConfig());
    }
}
