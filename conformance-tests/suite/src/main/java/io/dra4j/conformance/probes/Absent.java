// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** Claims and devices that no driver has. */
public final class Absent {

    /** A driver that is on no node. */
    public static final String DRIVER = "other.dra-conformance.example.com";

    private Absent() {}

    /** A device that no driver has, in a pool that it may have. */
    public static PublishedDevice device(TestContext context) {
        return device(anyDevice(context).pool());
    }

    /** A device that no driver has. */
    public static PublishedDevice device(String pool) {
        return new PublishedDevice(pool, "dra-conformance-no-such-device", JsonNodeFactory.instance.objectNode());
    }

    /** A device that claims can have, or one that does not exist if there is none. */
    public static PublishedDevice anyDevice(TestContext context) {
        return context.devices().usable().stream()
                .findFirst()
                .orElseGet(() -> device(context.place().node()));
    }

    /** A claim that does not exist. */
    public static KubeletClaim claim(TestContext context) {
        String seed = "claim " + context.random().nextLong();
        return new KubeletClaim(
                "dra-conformance-nowhere",
                "no-claim",
                UUID.nameUUIDFromBytes(seed.getBytes(StandardCharsets.UTF_8)).toString());
    }
}
