// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.Objects;

/**
 * A network interface that moves from the host into the container (CDI 1.1.0).
 *
 * @param hostInterfaceName its name on the host
 * @param name its name in the container
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, netDevices</a>
 */
public record NetDevice(String hostInterfaceName, String name) {

    /** Checks that nothing is missing. */
    public NetDevice {
        Objects.requireNonNull(hostInterfaceName, "hostInterfaceName");
        Objects.requireNonNull(name, "name");
    }
}
