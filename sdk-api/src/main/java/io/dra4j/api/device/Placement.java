// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The nodes from which the devices of a pool, or one device of it, can be used.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice: nodeName, nodeSelector, allNodes, perDeviceNodeSelection</a>
 */
public sealed interface Placement {

    /** From the node that this driver runs on; for pools. */
    record ThisNode() implements Placement {

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof ThisNode;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    /**
     * From one node; for a device of a pool with {@link PerDevice} placement.
     *
     * @param name the node's name
     */
    record NamedNode(String name) implements Placement {

        /** Checks that nothing is missing. */
        public NamedNode {
            Objects.requireNonNull(name, "name");
        }
    }

    /**
     * From the nodes that a selector chooses; for pools and devices.
     *
     * @param selector chooses the nodes
     */
    record MatchingNodes(NodeSelector selector) implements Placement {

        /** Checks that nothing is missing. */
        public MatchingNodes {
            Objects.requireNonNull(selector, "selector");
        }
    }

    /** From every node; for pools and devices. */
    record AllNodes() implements Placement {}

    /** Each device of the pool has its own placement; for pools. */
    record PerDevice() implements Placement {}

    /** Another component publishes the pool, and this driver only prepares its devices; for pools. */
    record PublishedElsewhere() implements Placement {}
}
