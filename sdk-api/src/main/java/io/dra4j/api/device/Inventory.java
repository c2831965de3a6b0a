// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * All that a driver offers at one moment: a full snapshot, never a change to an earlier one.
 *
 * @param pools the pools, with names that are unique
 */
public record Inventory(List<Pool> pools) {

    /**
     * Copies the list and checks that no two pools bear one name.
     *
     * @throws IllegalArgumentException if two pools bear one name
     */
    public Inventory {
        pools = List.copyOf(Objects.requireNonNull(pools, "pools"));
        Set<PoolName> names = new HashSet<>();
        for (Pool pool : pools) {
            if (!names.add(pool.name())) {
                throw new IllegalArgumentException(
                        "Two pools of the inventory are named " + pool.name());
            }
        }
    }

    /**
     * Returns the inventory of some pools.
     *
     * @param pools the pools
     * @return the inventory
     * @throws IllegalArgumentException if two pools bear one name
     */
    public static Inventory of(Pool... pools) {
        return new Inventory(List.of(Objects.requireNonNull(pools, "pools")));
    }

    /**
     * Finds a pool by name.
     *
     * @param name the pool's name
     * @return the pool, or empty if there is none of that name
     */
    public Optional<Pool> pool(PoolName name) {
        Objects.requireNonNull(name, "name");
        return pools.stream().filter(pool -> pool.name().equals(name)).findFirst();
    }

    /**
     * Finds a device by pool and name.
     *
     * @param pool the pool's name
     * @param device the device's name
     * @return the device, or empty if there is none of that name in the pool
     */
    public Optional<Device> device(PoolName pool, DeviceName device) {
        Objects.requireNonNull(pool, "pool");
        Objects.requireNonNull(device, "device");
        return pool(pool).stream()
                .flatMap(found -> found.devices().stream())
                .filter(candidate -> candidate.name().equals(device))
                .findFirst();
    }
}
