// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.ConfigType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The use of a fake NIC by a claim: the opaque configuration that a claim or a DeviceClass may
 * carry.
 *
 * <pre>{@code
 * apiVersion: net.resource.example.com/v1alpha1
 * kind: NetConfig
 * mtu: 9000
 * }</pre>
 *
 * @param mtu the largest packet in bytes; {@code null} is 1500
 */
record NetConfig(@Nullable Integer mtu) {

    /** The kind, with its defaults and rules; a NIC that no entry applies to has the defaults. */
    static final ConfigType<NetConfig> TYPE = ConfigType.builder(
                    "net.resource.example.com/v1alpha1", "NetConfig", NetConfig.class)
            .defaults(() -> new NetConfig(NetConfig.USUAL_MTU))
            .normalize(NetConfig::normalized)
            .validate(NetConfig::problems)
            .build();

    private static final int USUAL_MTU = 1500;
    private static final int LEAST_MTU = 68; // of IPv4
    private static final int MOST_MTU = 9216;

    private NetConfig normalized() {
        return mtu == null ? new NetConfig(USUAL_MTU) : this;
    }

    private List<String> problems() {
        return mtu != null && mtu >= LEAST_MTU && mtu <= MOST_MTU
                ? List.of()
                : List.of("invalid mtu: " + mtu + "; write " + LEAST_MTU + " to " + MOST_MTU);
    }
}
