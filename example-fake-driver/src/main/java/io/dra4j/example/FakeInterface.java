// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.AllocatedDevice;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The network interface of a fake NIC, or of a virtual function, which is a share of the NIC. Its addresses stay the
 * same after a restart, and differ between nodes.
 *
 * @param nodeName the node
 * @param nic the NIC's name
 * @param share the id of the share; empty for the NIC itself
 */
record FakeInterface(String nodeName, String nic, String share) {

    static FakeInterface of(String nodeName, AllocatedDevice nic) {
        @Nullable String share = nic.shareId();
        return new FakeInterface(nodeName, nic.device().value(), share == null ? "" : share);
    }

    /** Returns the interface's name in the container: {@code eth3} for {@code nic-3}. */
    String name() {
        return "eth" + nic.substring("nic-".length());
    }

    UUID uuid() {
        String all = String.join("/", nodeName, nic, share);
        return UUID.nameUUIDFromBytes(all.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a locally administered address. */
    String mac() {
        return "02:%02x:%02x:%02x:%02x:%02x".formatted(octet(0), octet(1), octet(2), octet(3), octet(4));
    }

    /** Returns a private address with its prefix length. */
    String ip() {
        return "10.%d.%d.%d/8".formatted(octet(0), octet(1), octet(2));
    }

    private long octet(int position) {
        return uuid().getMostSignificantBits() >>> 8 * position & 0xff;
    }
}
