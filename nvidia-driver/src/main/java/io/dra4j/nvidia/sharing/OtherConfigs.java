// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.Nullable;

/** The configurations of devices that this driver does not publish: decoded, and not validated. */
final class OtherConfigs {

    private OtherConfigs() {}

    /**
     * A channel of a compute domain.
     *
     * @param allocationMode {@code Single} or {@code All}
     */
    record ComputeDomainChannelConfig(
            @Nullable String domainID, @Nullable String allocationMode) {}

    /** The daemon of a compute domain. */
    record ComputeDomainDaemonConfig(@Nullable String domainID) {}
}
