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

    private static final String DEVICE = "dra-conformance-no-such-device";

    private Absent() {}

    /** A device that no driver has, in a pool that it may have. */
    public static PublishedDevice device(TestContext context) {
        return like(anyDevice(context));
    }

    /** A device that no driver has, and that is like another one of its pool. */
    public static PublishedDevice like(PublishedDevice known) {
        return known.absent(known.pool(), DEVICE);
    }

    /** A device that claims can have, or else one that does not exist. */
    public static PublishedDevice anyDevice(TestContext context) {
        return context.devices().usable().stream()
                .findFirst()
                .orElseGet(() ->
                        new PublishedDevice(context.place().node(), DEVICE, JsonNodeFactory.instance.objectNode()));
    }

    public static KubeletClaim claim(TestContext context) {
        String seed = "claim " + context.random().nextLong();
        return new KubeletClaim(
                "dra-conformance-nowhere",
                "no-claim",
                UUID.nameUUIDFromBytes(seed.getBytes(StandardCharsets.UTF_8)).toString());
    }
}
