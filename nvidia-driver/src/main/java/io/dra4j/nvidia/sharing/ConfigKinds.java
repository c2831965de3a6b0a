// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.vfio.VfioDeviceConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The kinds of configurations of NVIDIA's driver. */
public final class ConfigKinds {

    private ConfigKinds() {}

    /** Returns all of them; configurations for devices that this driver does not publish match no device. */
    public static List<ConfigType<?>> of(NvidiaGates gates) {
        return List.of(
                GpuConfig.type(gates),
                MigDeviceConfig.type(gates),
                VfioDeviceConfig.type(GpuConfig.API_VERSION),
                withoutDevices("ComputeDomainChannelConfig", ComputeDomainChannelConfig.class),
                withoutDevices("ComputeDomainDaemonConfig", ComputeDomainDaemonConfig.class));
    }

    private static <T> ConfigType<T> withoutDevices(String kind, Class<T> type) {
        return ConfigType.builder(GpuConfig.API_VERSION, kind, type)
                .appliesTo(device -> false)
                .build();
    }

    /**
     * A channel of a compute domain, which this driver does not publish: decoded, and not validated.
     *
     * @param allocationMode {@code Single} or {@code All}
     */
    record ComputeDomainChannelConfig(
            @Nullable String domainID, @Nullable String allocationMode) {}

    /** The daemon of a compute domain, which this driver does not publish either. */
    record ComputeDomainDaemonConfig(@Nullable String domainID) {}

    /**
     * The configuration of a MIG device.
     *
     * @param sharing its sharing by containers; null for none
     */
    record MigDeviceConfig(@Nullable MigDeviceSharing sharing) implements DeviceConfig {

        static ConfigType<MigDeviceConfig> type(NvidiaGates gates) {
            SharingRules rules = new SharingRules(gates);
            return ConfigType.builder(GpuConfig.API_VERSION, "MigDeviceConfig", MigDeviceConfig.class)
                    .defaults(() -> new MigDeviceConfig(null))
                    .appliesTo(device -> GpuConfig.isOfType(device, "mig"))
                    .normalize(config -> config.normalized(rules))
                    .validate(config -> config.problems(rules))
                    .changesDevice(config -> config.sharing() != null)
                    .build();
        }

        /**
         * The sharing of a MIG device, which has no settings of time slicing.
         *
         * @param strategy {@code TimeSlicing} or {@code MPS}
         */
        record MigDeviceSharing(
                @Nullable String strategy, @Nullable MpsConfig mpsConfig) {}

        private MigDeviceConfig normalized(SharingRules rules) {
            return sharing != null && sharing.mpsConfig() == null && rules.allows(sharing.strategy(), StrategyName.MPS)
                    ? new MigDeviceConfig(new MigDeviceSharing(sharing.strategy(), MpsConfig.EMPTY))
                    : this;
        }

        private List<String> problems(SharingRules rules) {
            return sharing == null ? List.of() : rules.problems(sharing.strategy(), null, sharing.mpsConfig());
        }

        @Override
        public @Nullable SharingSettings settings() {
            return sharing == null
                    ? null
                    : new SharingSettings(StrategyName.of(sharing.strategy()).orElseThrow(), null, sharing.mpsConfig());
        }
    }
}
