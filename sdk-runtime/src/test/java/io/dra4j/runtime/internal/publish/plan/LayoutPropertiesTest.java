// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.CounterLayout.CounterGroup;
import io.dra4j.runtime.internal.publish.plan.PoolConsumer.Seen;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random pools on a server that is upgraded and downgraded at random, and a driver that restarts.
 *
 * <p>In all cases, each write is one that the server takes, the cluster equals the inventory, no
 * write follows, and no consumer sees a complete pool that is half old and half new. Within a
 * release that wants devices with their counter sets, those that go on consuming the same stay in
 * their slices; in the other one, devices are in the inventory's order.
 */
@Tag("slow")
class LayoutPropertiesTest {

    private static final int STEPS = 300;

    private Random random;
    private SimulatedCluster cluster;
    private List<PlannedSlice> plan = List.of();
    private int upgrades;
    private int jointSlices;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everyReleaseSeesThePool(long seed) {
        random = new Random(seed);
        cluster = new SimulatedCluster(random);
        RandomPools pools = new RandomPools(random);
        Pool pool = pools.next("node-a");
        for (int step = 0; step < STEPS; step++) {
            Pool before = pool;
            pool = random.nextInt(5) == 0 ? pools.rephrased(pool) : pools.edited(pool);
            boolean upgraded = changeRelease(pool);
            if (random.nextInt(5) == 0) {
                plan = PlannedSlice.adopt(cluster.of(pool.name()));
            }
            settle(before, pool, upgraded || !before.placement().equals(pool.placement()));
        }
        System.out.printf(
                "layouts: seed %d, %d steps, %d changes of the release, %d slices with both%n",
                seed, STEPS, upgrades, jointSlices);
        assertThat(jointSlices).isPositive();
    }

    private boolean changeRelease(Pool pool) {
        CounterLayout next = random.nextInt(8) == 0 ? CounterLayout.values()[random.nextInt(2)] : cluster.layout;
        if (!next.problems(pool).isEmpty()) {
            next = CounterLayout.APART;
        }
        boolean changed = next != cluster.layout;
        upgrades += changed ? 1 : 0;
        cluster.layout = next;
        return changed;
    }

    private void settle(Pool before, Pool pool, boolean mayMove) {
        Map<DeviceName, String> homes = SettledPool.homes(cluster.of(pool.name()));
        Seen old = PoolConsumer.look(cluster.of(pool.name()));
        Seen wanted = PoolConsumer.wanted(pool);
        for (SliceWrite write : writes(pool)) {
            cluster.apply(write);
            Seen now = PoolConsumer.look(cluster.of(pool.name()));
            assertThat(now == null || now.equals(wanted) || now.equals(old))
                    .as("one inventory after %s", Brief.of(write))
                    .isTrue();
        }
        assertThat(PoolConsumer.look(cluster.of(pool.name()))).isEqualTo(wanted);
        assertThat(writes(pool)).as("a second look").isEmpty();
        jointSlices += (int) cluster.of(pool.name()).stream()
                .map(Stored::content)
                .filter(c -> !c.devices().isEmpty() && !c.counterSets().isEmpty())
                .count();
        if (cluster.layout == CounterLayout.APART) {
            new SettledPool(pool, true, List.of(), cluster.of(pool.name())).checkOrder();
        } else if (!mayMove) {
            checkHomes(before, pool, homes);
        }
    }

    private void checkHomes(Pool before, Pool pool, Map<DeviceName, String> homes) {
        if (!before.counterSets().equals(pool.counterSets())
                || CounterGroup.of(before).size() != CounterGroup.of(pool).size()) {
            return;
        }
        Map<DeviceName, Device> old = new HashMap<>();
        before.devices().forEach(device -> old.put(device.name(), device));
        Map<DeviceName, String> now = SettledPool.homes(cluster.of(pool.name()));
        for (Device device : pool.devices()) {
            Device was = old.get(device.name());
            if (was != null
                    && !was.consumesCounters().isEmpty()
                    && was.consumesCounters().equals(device.consumesCounters())) {
                assertThat(now.get(device.name()))
                        .as("the slice of %s", device.name())
                        .isEqualTo(homes.get(device.name()));
            }
        }
    }

    private List<SliceWrite> writes(Pool pool) {
        plan = cluster.layout.plan(pool, plan, true);
        return SliceDiff.between(cluster.of(pool.name()), plan);
    }
}
