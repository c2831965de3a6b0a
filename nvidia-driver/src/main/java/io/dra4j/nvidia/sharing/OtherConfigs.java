// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.Nullable;

/** The configurations of devices that this driver does not publish: decoded, and not validated. */
final class OtherConfigs {

    private OtherConfigs() {}

    /** The passthrough of a GPU to a virtual machine. */
    record VfioDeviceConfig(@Nullable Iommu iommu) {}

    /**
     * The IOMMU of a GPU.
     *
     * @param backendPolicy {@code LegacyOnly} or {@code PreferIommuFD}
     */
    record Iommu(@Nullable String backendPolicy, @Nullable Boolean enableAPIDevice) {}

    /**
     * A channel of a compute domain.
     *
     * @param allocationMode {@code Single} or {@code All}
     */
    record ComputeDomainChannelConfig(@Nullable String domainID, @Nullable String allocationMode) {}

    /** The daemon of a compute domain. */
    record ComputeDomainDaemonConfig(@Nullable String domainID) {}
}
