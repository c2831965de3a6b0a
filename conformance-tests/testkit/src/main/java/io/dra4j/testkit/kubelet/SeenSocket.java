// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import org.jspecify.annotations.Nullable;

/** A registration socket that the kubelet knows. For one thread, but for its age. */
final class SeenSocket {

    private final String identity;
    private final long since = System.nanoTime();
    private @Nullable Plugin plugin;

    /**
     * @param identity distinguishes it from a later socket of the same name
     */
    SeenSocket(String identity) {
        this.identity = identity;
    }

    String identity() {
        return identity;
    }

    /** The driver that was registered by it; null if none was yet. */
    @Nullable Plugin plugin() {
        return plugin;
    }

    void registered(Plugin driver) {
        plugin = driver;
    }

    /** The time since the kubelet found it. */
    String age() {
        return "after " + (System.nanoTime() - since) / 1_000_000 + " ms";
    }
}
