// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.List;

/**
 * A set of devices that is published, and becomes valid, as a whole.
 *
 * <p>An empty pool is published as empty; a pool that is no longer in the inventory is withdrawn.
 * Devices keep the order given: the scheduler takes earlier devices first.
 *
 * @param name the pool's name
 * @param placement from which nodes its devices can be used
 * @param devices the devices, with names that are unique in the pool
 * @param counterSets what the devices share, with names that are unique in the pool
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, pool</a>
 */
public record Pool(
        PoolName name, Placement placement, List<Device> devices, List<CounterSet> counterSets) {

    /** Copies the lists. */
    public Pool {
        devices = List.copyOf(devices);
        counterSets = List.copyOf(counterSets);
    }

    /**
     * Returns a pool of devices of the node that the driver runs on.
     *
     * @param name the pool's name, by convention the node's
     * @param devices the devices, in order of preference
     * @return the pool
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Pool ofNode(String name, List<Device> devices) {
        return new Pool(new PoolName(name), new Placement.ThisNode(), devices, List.of());
    }

    /**
     * Returns a pool that another component publishes, and whose devices this driver prepares.
     *
     * <p>Whether a device of such a pool exists is for the provider to check when it prepares it.
     *
     * @param name the pool's name
     * @return the pool, without devices
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Pool publishedElsewhere(String name) {
        return new Pool(
                new PoolName(name), new Placement.PublishedElsewhere(), List.of(), List.of());
    }

    /**
     * Returns this pool with counter sets that its devices consume.
     *
     * @param sets the counter sets
     * @return a copy of this pool
     */
    public Pool withCounterSets(List<CounterSet> sets) {
        return new Pool(name, placement, devices, sets);
    }
}
