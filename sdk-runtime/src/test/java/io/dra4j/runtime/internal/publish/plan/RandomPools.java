// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Random pools, and what becomes of them from one moment to the next. */
public final class RandomPools {

    private final Random random;
    private final RandomDevices devices;
    private int names;

    /** Makes pools that the API takes. */
    public RandomPools(Random random) {
        this(random, 0);
    }

    /**
     * Makes pools at and around the limits of the API.
     *
     * @param edges how many of a thousand values are such that the API may refuse them
     */
    public RandomPools(Random random, int edges) {
        this.random = random;
        this.devices = new RandomDevices(random, edges);
    }

    /** Returns a new pool: empty, or of a size around the limits of a slice. */
    public Pool next(String name) {
        return next(name, random.nextInt(5) == 0 ? 0 : random.nextInt(200));
    }

    /** Returns a new pool of so many devices. */
    public Pool next(String name, int size) {
        List<CounterSet> sets = devices.counterSets(random.nextInt(3) == 0 ? 1 + random.nextInt(9) : 0);
        return grown(
                Pool.builder(name)
                        .placement(devices.poolPlacement())
                        .counterSets(sets)
                        .build(),
                size);
    }

    public Pool edited(Pool pool) {
        return switch (random.nextInt(14)) {
            case 0 -> grown(pool, 1);
            case 1 -> grown(pool, random.nextInt(70));
            case 2 -> shrunk(pool, 1);
            case 3 -> shrunk(pool, random.nextInt(70));
            case 4 -> reordered(pool);
            case 5 -> with(pool, devices.shuffled(pool.devices()));
            case 6 -> placed(pool, devices.poolPlacement());
            case 7 -> random.nextInt(4) == 0 ? with(pool, List.of()) : pool;
            case 8 -> withCounters(pool, random.nextInt(20));
            case 9 -> placedAgain(pool);
            default -> changed(pool);
        };
    }

    /** Returns a pool that says the same in another way. */
    public Pool rephrased(Pool pool) {
        return pool.toBuilder()
                .placement(devices.rephrased(pool.placement()))
                .devices(pool.devices().stream().map(devices::rephrased).toList())
                .counterSets(devices.shuffled(pool.counterSets()))
                .build();
    }

    private Pool grown(Pool pool, int count) {
        List<Device> all = new ArrayList<>(pool.devices());
        for (int i = 0; i < count; i++) {
            String more = count > 9 ? "" : "x".repeat(random.nextInt(50));
            Device device = device(pool, "gpu-" + names++ + more, count > 9);
            all.add(random.nextInt(all.size() + 1), device);
        }
        return with(pool, all);
    }

    /** Many devices are plain, so that not all pools take 64 to a slice. */
    private Device device(Pool pool, String name, boolean ofMany) {
        return pool.name().value().startsWith("plain")
                ? Device.builder(name)
                        .attribute("v", random.nextInt(3))
                        .placement(devices.placement(pool.placement()))
                        .build()
                : devices.next(name, ofMany, pool.placement(), pool.counterSets());
    }

    private Pool shrunk(Pool pool, int count) {
        List<Device> all = new ArrayList<>(pool.devices());
        for (int i = 0; i < count && !all.isEmpty(); i++) {
            all.remove(random.nextInt(all.size()));
        }
        return with(pool, all);
    }

    private Pool reordered(Pool pool) {
        List<Device> all = new ArrayList<>(pool.devices());
        if (!all.isEmpty()) {
            Collections.swap(all, random.nextInt(all.size()), random.nextInt(all.size()));
        }
        return with(pool, all);
    }

    private Pool changed(Pool pool) {
        List<Device> all = new ArrayList<>(pool.devices());
        if (!all.isEmpty()) {
            int index = random.nextInt(all.size());
            Device.Builder next = again(all.get(index), pool, pool.counterSets()).toBuilder();
            if (random.nextInt(10) == 0) {
                next.rawField("future", "{\"b\": [1, 2], \"a\": " + random.nextInt(3) + "}");
            }
            all.set(index, next.build());
        }
        return with(pool, all);
    }

    private Device again(Device device, Pool pool, List<CounterSet> sets) {
        return devices.next(device.name().value(), true, pool.placement(), sets);
    }

    private Pool placed(Pool pool, Placement placement) {
        List<Device> all = pool.devices().stream()
                .map(d -> d.toBuilder().placement(devices.placement(placement)).build())
                .toList();
        return pool.toBuilder().placement(placement).devices(all).build();
    }

    private Pool placedAgain(Pool pool) {
        return pool.placement() instanceof Placement.PerDevice ? placed(pool, pool.placement()) : changed(pool);
    }

    /** Other counter sets: the devices that consume any change with them. */
    private Pool withCounters(Pool pool, int count) {
        if (random.nextInt(3) > 0 || pool.name().value().startsWith("plain")) {
            return pool;
        }
        List<CounterSet> sets = devices.counterSets(count);
        List<Device> all = pool.devices().stream()
                .map(it -> it.consumesCounters().isEmpty() ? it : again(it, pool, sets))
                .toList();
        return pool.toBuilder().devices(all).counterSets(sets).build();
    }

    private static Pool with(Pool pool, List<Device> devices) {
        return pool.toBuilder().devices(devices).build();
    }
}
