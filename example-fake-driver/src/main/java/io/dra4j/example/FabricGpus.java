// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;

/**
 * Offers the GPUs of a fabric that all Linux nodes can attach.
 *
 * <p>A controller publishes them, and {@link FakeGpuProvider} prepares them on the node that a pod gets.
 */
final class FabricGpus extends DecoratedDevices {

    static final String POOL = "fabric";

    /** The prefix differs from that of a node's GPUs, because a container may have one of each. */
    static final String PREFIX = "fabric-gpu-";

    FabricGpus(String driverName, int deviceCount) {
        super(new FakeGpuProvider(driverName, POOL, PREFIX, deviceCount, 0));
    }

    @Override
    Pool decorate(Pool pool) {
        return pool.toBuilder()
                .placement(new Placement.MatchingNodes(NodeSelector.labelIn("kubernetes.io/os", "linux")))
                .build();
    }
}
