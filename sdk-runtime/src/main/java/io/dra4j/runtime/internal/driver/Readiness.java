// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.runtime.internal.kubelet.KubeletPlugin;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The conditions that a driver lacks to be ready, a line each.
 *
 * <p>It is ready when the kubelet has confirmed the registration and the cluster has all its pools,
 * by its own doing or by that of another process of it. One that offers no device because all are
 * left out is not. Thread-safe, and answers at once.
 */
final class Readiness implements AutoCloseable {

    private volatile Supplier<List<String>> missing = () -> List.of("start: it still starts");
    private volatile Supplier<List<String>> leftOut = List::of;

    List<String> missing() {
        return missing.get();
    }

    /** Returns the hardware that is left out, a line each; a driver may be ready all the same. */
    List<String> leftOut() {
        return leftOut.get();
    }

    void started(KubeletPlugin plugin, SlicePublisher publisher) {
        leftOut = publisher::leftOut;
        missing = () -> missing(plugin, publisher);
    }

    private static List<String> missing(KubeletPlugin plugin, SlicePublisher publisher) {
        List<String> missing = new ArrayList<>();
        if (!plugin.isRegistered()) {
            missing.add("registration: the kubelet has not confirmed it");
        }
        missing.addAll(publisher.missing());
        return missing;
    }

    @Override
    public void close() {
        missing = () -> List.of("stop: it stops");
    }
}
