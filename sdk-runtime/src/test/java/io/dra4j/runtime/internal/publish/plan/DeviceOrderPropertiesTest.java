// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random sequences of inventories, as a scheduler meets their devices: by the names of slices, then by the place in a
 * slice.
 *
 * <p>Devices come, go and are permuted in pools of sizes around the limits of a slice; counter sets come and go; the
 * driver restarts. Each time the order is the inventory's, an inventory that does not change writes nothing, and each
 * slice is written once at most: a device that goes changes one slice, and one that comes two.
 */
@Tag("slow")
@Tag("counts")
class DeviceOrderPropertiesTest {

    private static final int STEPS = Boolean.getBoolean("dra4j.nightly") ? 8_000 : 300;

    private Random random;
    private List<Device> devices = new ArrayList<>();
    private int sets;
    private int named;
    private long writes;
    private int created;

    @ParameterizedTest
    @CsvSource({"1, true", "2, false", "3, true", "4, false"})
    void theSchedulerMeetsDevicesInTheInventorysOrder(long seed, boolean mayTaint) {
        random = new Random(seed);
        SimulatedCluster cluster = new SimulatedCluster(random);
        SimulatedDriver driver = new SimulatedDriver(cluster, mayTaint);
        for (int step = 0; step < STEPS; step++) {
            edit();
            Pool pool = pool();
            List<Stored> before = cluster.of(pool.name());
            List<SliceWrite> all = driver.publish(pool);
            all.forEach(cluster::apply);
            SettledPool settled = new SettledPool(pool, mayTaint, before, cluster.of(pool.name()));
            settled.checkOrder();
            settled.checkWrites(all);
            settled.checkChanges();
            int creates = (int)
                    all.stream().filter(SliceWrite.Create.class::isInstance).count();
            assertThat(all).hasSizeLessThanOrEqualTo(before.size() + creates);
            if (random.nextInt(4) == 0) {
                driver.restart();
            }
            assertThat(driver.publish(pool)).isEmpty();
            writes += all.size();
            created += creates;
        }
        System.out.printf(
                "order: seed %d, mayTaint %s, %d steps, %d writes, %d slices created%n",
                seed, mayTaint, STEPS, writes, created);
        assertThat(created).isGreaterThan(STEPS / 40);
    }

    private Pool pool() {
        List<CounterSet> counters = IntStream.range(0, sets)
                .mapToObj(i -> CounterSet.of("s" + i, Map.of("c", Quantity.of(1))))
                .toList();
        return Pool.ofNode("node-a", devices).withCounterSets(counters);
    }

    private void edit() {
        devices = new ArrayList<>(devices);
        int size = devices.size();
        switch (random.nextInt(12)) {
            case 0 -> resize(List.of(0, 1, 63, 64, 65, 127, 128, 129, 192, 193, 300));
            case 1, 2 -> insert(random.nextInt(size + 1), 1 + random.nextInt(3));
            case 3 -> insert(random.nextInt(size + 1), random.nextInt(140));
            case 4, 5 -> remove(1 + random.nextInt(3));
            case 6 -> removeRow();
            case 7 -> Collections.rotate(devices, random.nextInt(5) - 2);
            case 8 -> shuffleSome();
            case 9 -> sets = random.nextInt(4) == 0 ? random.nextInt(20) : sets;
            case 10 -> Collections.rotate(devices, 64);
            default -> insert(any(0, size), 1);
        }
        if (devices.size() > 700) {
            devices = new ArrayList<>(devices.subList(300, 700));
        }
    }

    private void resize(List<Integer> sizes) {
        int size = sizes.get(random.nextInt(sizes.size()));
        insert(devices.size(), Math.max(0, size - devices.size()));
        devices = new ArrayList<>(devices.subList(0, size));
    }

    private void insert(int place, int count) {
        for (int i = 0; i < count; i++) {
            devices.add(place + i, Device.builder("gpu-" + named++).build());
        }
    }

    private void remove(int count) {
        for (int i = 0; i < count && !devices.isEmpty(); i++) {
            devices.remove(random.nextInt(devices.size()));
        }
    }

    private void removeRow() {
        int from = random.nextInt(devices.size() + 1);
        devices.subList(from, Math.min(devices.size(), from + random.nextInt(140)))
                .clear();
    }

    private void shuffleSome() {
        int from = random.nextInt(devices.size() + 1);
        int to = Math.min(devices.size(), from + any(2, 5, 70));
        Collections.shuffle(devices.subList(from, to), random);
    }

    private int any(int... values) {
        return values[random.nextInt(values.length)];
    }
}
