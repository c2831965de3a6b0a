// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import java.util.List;

/** The kinds of configurations of NVIDIA's driver. */
public final class ConfigKinds {

    /** All of them; those of devices that this driver does not publish fit no device. */
    public static final List<ConfigType<?>> ALL =
            List.of(
                    GpuConfig.TYPE,
                    MigDeviceConfig.TYPE,
                    withoutDevices("VfioDeviceConfig", OtherConfigs.VfioDeviceConfig.class),
                    withoutDevices(
                            "ComputeDomainChannelConfig",
                            OtherConfigs.ComputeDomainChannelConfig.class),
                    withoutDevices(
                            "ComputeDomainDaemonConfig",
                            OtherConfigs.ComputeDomainDaemonConfig.class));

    private ConfigKinds() {}

    private static <T> ConfigType<T> withoutDevices(String kind, Class<T> type) {
        return ConfigType.builder(GpuConfig.API_VERSION, kind, type)
                .appliesTo(device -> false)
                .build();
    }
}
