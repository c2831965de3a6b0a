// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Valid pools, and what becomes of them from one moment to the next. */
public final class RandomPools {

    private final Random random;
    private final RandomDevices devices;
    private int names;

    public RandomPools(Random random) {
        this.random = random;
        this.devices = new RandomDevices(random);
    }

    /** Returns a new pool: empty, or of a size around the limits of a slice. */
    public Pool next(String name) {
        Pool pool =
                new Pool(
                        new PoolName(name),
                        placement(),
                        List.of(),
                        counterSets(random.nextInt(3) * random.nextInt(6)));
        return random.nextInt(5) == 0 ? pool : grown(pool, random.nextInt(200));
    }

    private List<CounterSet> counterSets(int count) {
        return IntStream.range(0, count).mapToObj(i -> devices.counterSet("set-" + i)).toList();
    }

    private Placement placement() {
        return switch (random.nextInt(5)) {
            case 0 -> new Placement.AllNodes();
            case 1 -> new Placement.MatchingNodes(devices.selector());
            case 2 -> new Placement.PerDevice();
            default -> new Placement.ThisNode();
        };
    }

    public Pool edited(Pool pool) {
        return switch (random.nextInt(14)) {
            case 0 -> grown(pool, 1);
            case 1 -> grown(pool, random.nextInt(70));
            case 2 -> shrunk(pool, 1);
            case 3 -> shrunk(pool, random.nextInt(70));
            case 4 -> reordered(pool);
            case 5 -> with(pool, devices.shuffled(pool.devices()));
            case 6 -> placed(pool, placement());
            case 7 -> random.nextInt(4) == 0 ? with(pool, List.of()) : pool;
            case 8 -> withCounters(pool, random.nextInt(20));
            case 9 -> placedAgain(pool);
            default -> changed(pool);
        };
    }

    /** Returns a pool that says the same in another way. */
    public Pool rephrased(Pool pool) {
        return new Pool(
                pool.name(),
                devices.rephrased(pool.placement()),
                pool.devices().stream().map(devices::rephrased).toList(),
                devices.shuffled(pool.counterSets()));
    }

    private Pool grown(Pool pool, int count) {
        List<Device> all = new ArrayList<>(pool.devices());
        for (int i = 0; i < count; i++) {
            all.add(random.nextInt(all.size() + 1), device(pool, "gpu-" + names++));
        }
        return with(pool, all);
    }

    /** Many devices are plain, so that not all pools take 64 to a slice. */
    private Device device(Pool pool, String name) {
        return pool.name().value().startsWith("plain")
                ? Device.builder(name)
                        .attribute("v", random.nextInt(3))
                        .placement(devices.placement(pool.placement()))
                        .build()
                : devices.next(name, pool.placement(), pool.counterSets());
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
            all.set(
                    index,
                    devices.next(
                            all.get(index).name().value(), pool.placement(), pool.counterSets()));
        }
        return with(pool, all);
    }

    private Pool placed(Pool pool, Placement placement) {
        List<Device> all =
                pool.devices().stream()
                        .map(d -> d.toBuilder().placement(devices.placement(placement)).build())
                        .toList();
        return new Pool(pool.name(), placement, all, pool.counterSets());
    }

    private Pool placedAgain(Pool pool) {
        return pool.placement() instanceof Placement.PerDevice
                ? placed(pool, pool.placement())
                : changed(pool);
    }

    /** Other counter sets: the devices that consume those that go change with them. */
    private Pool withCounters(Pool pool, int count) {
        if (random.nextInt(3) > 0 || pool.name().value().startsWith("plain")) {
            return pool;
        }
        List<CounterSet> sets = counterSets(count);
        TreeSet<String> names = new TreeSet<>();
        sets.forEach(set -> names.add(set.name()));
        List<Device> all =
                pool.devices().stream()
                        .map(
                                device ->
                                        device.consumesCounters().stream()
                                                        .allMatch(
                                                                c -> names.contains(c.counterSet()))
                                                ? device
                                                : devices.next(
                                                        device.name().value(),
                                                        pool.placement(),
                                                        sets))
                        .toList();
        return new Pool(pool.name(), pool.placement(), all, sets);
    }

    private static Pool with(Pool pool, List<Device> devices) {
        return new Pool(pool.name(), pool.placement(), devices, pool.counterSets());
    }
}
