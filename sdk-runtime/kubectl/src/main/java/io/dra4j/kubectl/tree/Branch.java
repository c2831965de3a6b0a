// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import java.util.List;

/**
 * The pools whose devices are used from one place.
 *
 * @param place the name of a node, or what else the pools are for
 * @param isNode whether the place is one node
 */
record Branch(String place, boolean isNode, List<PoolBranch> pools) {

    int devices() {
        return pools.stream()
                .mapToInt(pool -> pool.used().size() + pool.free().size())
                .sum();
    }

    long inUse() {
        return pools.stream()
                .flatMap(pool -> pool.used().stream())
                .filter(UsedDevice::isInUse)
                .count();
    }

    /**
     * A pool.
     *
     * @param problem why nothing of it is allocated; empty if all is well
     * @param used devices that someone has, or that have taints
     * @param free the names of the others
     * @param counters that are used in part
     */
    record PoolBranch(
            String driver,
            String pool,
            long generation,
            String problem,
            List<UsedDevice> used,
            List<String> free,
            List<UsedCounter> counters) {}

    /**
     * A device with users or taints.
     *
     * @param left what its shares have left, such as {@code memory 30Gi of 80Gi}
     */
    record UsedDevice(String name, List<String> taints, List<User> users, List<String> left) {

        /** Returns whether a claim has it, or a share of it; admin access takes nothing. */
        boolean isInUse() {
            return users.stream().anyMatch(user -> !user.adminAccess());
        }
    }

    /**
     * A claim that has a device, or a share of it.
     *
     * @param claim its namespace and name
     * @param pods that it is reserved for
     * @param grouped whether it is reserved for a group of pods
     * @param share what it consumes, such as {@code memory 50Gi}; empty if it has all
     */
    record User(String claim, List<String> pods, boolean grouped, List<String> share, boolean adminAccess) {}

    /** A counter of which devices that are allocated have taken something. */
    record UsedCounter(String set, String counter, String left, String all) {}
}
