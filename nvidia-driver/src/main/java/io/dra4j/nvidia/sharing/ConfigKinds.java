// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.nvidia.gates.FeatureGates;
import io.dra4j.nvidia.vfio.VfioDeviceConfig;
import java.util.List;

/** The kinds of configurations of NVIDIA's driver. */
public final class ConfigKinds {

    private ConfigKinds() {}

    /**
     * Returns all of them; those of devices that this driver does not publish fit no device.
     *
     * @param gates the feature gates, which allow the strategies of sharing
     */
    public static List<ConfigType<?>> of(FeatureGates gates) {
        return List.of(
                GpuConfig.type(gates),
                MigDeviceConfig.type(gates),
                VfioDeviceConfig.type(GpuConfig.API_VERSION),
                withoutDevices("ComputeDomainChannelConfig", OtherConfigs.ComputeDomainChannelConfig.class),
                withoutDevices("ComputeDomainDaemonConfig", OtherConfigs.ComputeDomainDaemonConfig.class));
    }

    private static <T> ConfigType<T> withoutDevices(String kind, Class<T> type) {
        return ConfigType.builder(GpuConfig.API_VERSION, kind, type)
                .appliesTo(device -> false)
                .build();
    }
}
