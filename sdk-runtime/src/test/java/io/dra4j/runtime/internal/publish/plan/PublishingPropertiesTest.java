// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.CounterLayout.CounterGroup;
import io.dra4j.runtime.internal.publish.plan.PoolConsumer.Seen;
import io.dra4j.runtime.internal.validate.PoolRules;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random inventories of several pools with all features, and random edits of them, through the real planner and the
 * real diff, while the driver crashes between writes and others delete, copy and alter slices.
 *
 * <p>In all cases, the settled cluster equals the inventory, no write follows, and no consumer ever sees a complete
 * pool that is half one inventory and half another. Undisturbed, the number of writes is the least, and devices stay
 * where they are.
 */
@Tag("slow")
@Tag("counts")
class PublishingPropertiesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final int STEPS =
            Boolean.getBoolean("dra4j.nightly") ? 8_000 : Boolean.getBoolean("dra4j.full") ? 500 : 60;
    private static final List<String> NAMES = List.of("node-a", "plain", "plain/b", "node-a/gpu");

    private Random random;
    private RandomPools pools;
    private SimulatedCluster cluster;
    private SimulatedDriver driver;
    private final Map<PoolName, Pool> inventory = new HashMap<>();
    private final Map<PoolName, Seen> seen = new HashMap<>();
    private final Set<PoolName> forged = new HashSet<>();
    private long writes;
    private long pendingWrites;

    @ParameterizedTest
    @CsvSource({"1, true", "2, true", "3, false", "4, false"})
    void theClusterEqualsTheInventoryAfterTheFewestWrites(long seed, boolean mayTaint) {
        random = new Random(seed);
        pools = new RandomPools(random);
        cluster = new SimulatedCluster(random);
        driver = new SimulatedDriver(cluster, mayTaint);
        for (int step = 0; step < STEPS; step++) {
            cluster.passTime();
            boolean disturbed = random.nextInt(4) == 0;
            if (disturbed) {
                disturb();
            }
            boolean rephrased = !disturbed && random.nextInt(6) == 0;
            PoolName edited = rephrased ? rephrase() : edit();
            for (PoolName pool : poolsInSight()) {
                boolean same = rephrased || !pool.equals(edited);
                settle(pool, disturbed, same && !disturbed);
            }
        }
        System.out.printf(
                "properties: seed %d, mayTaint %s, %d steps, %d writes, %d of them before a crash or"
                        + " a foreign change%n",
                seed, mayTaint, STEPS, writes, pendingWrites);
    }

    private Set<PoolName> poolsInSight() {
        Set<PoolName> names = new TreeSet<>(inventory.keySet());
        cluster.all().forEach(slice -> names.add(slice.content().pool()));
        return names;
    }

    private PoolName edit() {
        PoolName name = new PoolName(any(NAMES));
        Pool pool = inventory.get(name);
        if (pool == null) {
            inventory.put(name, pools.next(name.value()));
        } else if (random.nextInt(40) == 0) {
            inventory.remove(name);
        } else {
            inventory.put(name, pools.edited(pool));
        }
        Pool edited = inventory.get(name);
        if (edited != null) {
            assertThat(RULES.problems(edited)).isEmpty();
        }
        return name;
    }

    private PoolName rephrase() {
        PoolName name = new PoolName(any(NAMES));
        inventory.computeIfPresent(name, (key, pool) -> pools.rephrased(pool));
        return name;
    }

    /** Writes half of what is to be written, then crashes or meets changes of another client. */
    private void disturb() {
        PoolName name = edit();
        List<SliceWrite> half = writes(name);
        half = half.subList(0, random.nextInt(half.size() + 1));
        Seen wanted = wanted(inventory.get(name));
        half.forEach(write -> write(name, write, wanted));
        pendingWrites += half.size();
        List<Stored> slices = cluster.of(name);
        if (slices.size() > 0 && random.nextInt(6) == 0) {
            cluster.copyAsAnotherClient(any(slices), any(List.of("1000000-a", "10000-x", "00001-x", "other")));
        } else {
            slices.stream().filter(slice -> random.nextInt(4) == 0).forEach(this::meddle);
        }
        if (random.nextInt(10) == 0) {
            cluster.disown();
        }
        if (random.nextBoolean()) {
            driver.restart();
        }
    }

    private void meddle(Stored slice) {
        switch (random.nextInt(6)) {
            case 0 -> cluster.changeAsAnotherClient(slice, c -> c.withDevices(List.of()));
            case 1 ->
                cluster.changeAsAnotherClient(slice, c -> c.at(c.generation() + random.nextInt(3), c.sliceCount()));
            case 2 -> forgeCount(slice);
            default -> cluster.deleteAsAnotherClient(slice);
        }
    }

    /** Nothing keeps consumers from believing a count that another client has forged. */
    private void forgeCount(Stored slice) {
        cluster.changeAsAnotherClient(slice, c -> c.at(c.generation(), 1 + random.nextInt(3)));
        forged.add(slice.content().pool());
    }

    private void settle(PoolName name, boolean disturbed, boolean unchanged) {
        List<Stored> before = cluster.of(name);
        List<SliceWrite> all = writes(name);
        Pool pool = inventory.get(name);
        if (unchanged) {
            assertThat(all).as("an inventory that means the same").isEmpty();
            return;
        }
        Seen wanted = wanted(pool);
        all.forEach(write -> write(name, write, wanted));
        writes += all.size();
        assertThat(writes(name)).as("a second look at %s", name).isEmpty();
        if (pool == null) {
            assertThat(cluster.of(name)).as("slices of a pool withdrawn").isEmpty();
            seen.remove(name);
            return;
        }
        forged.remove(name);
        Seen now = PoolConsumer.look(cluster.of(name));
        assertThat(now).as("what consumers see of %s", name).isEqualTo(wanted);
        seen.put(name, now);
        SettledPool settled = new SettledPool(pool, driver.mayTaint(), before, cluster.of(name));
        settled.checkOrder();
        assertThat(new SimulatedDriver(cluster, driver.mayTaint()).publish(pool))
                .as("after a restart")
                .isEmpty();
        if (!disturbed) {
            settled.checkWrites(all);
            settled.checkChanges();
            settled.checkTaintTimes();
        }
    }

    private List<SliceWrite> writes(PoolName name) {
        Pool pool = inventory.get(name);
        return pool == null ? driver.withdraw(name) : driver.publish(pool);
    }

    /** Consumers go on seeing what they see, or nothing for a while, or what is wanted now. */
    private void write(PoolName name, SliceWrite write, @Nullable Seen wanted) {
        Seen before = PoolConsumer.look(cluster.of(name));
        cluster.apply(write);
        Seen now = PoolConsumer.look(cluster.of(name));
        if (now != null) {
            assertThat(Stream.of(wanted, before, seen.get(name)).anyMatch(now::equals))
                    .as("%s is one inventory after %s", brief(cluster.of(name)), brief(write))
                    .matches(one -> one || forged.contains(name));
            seen.put(name, now);
        }
    }

    private static @Nullable Seen wanted(@Nullable Pool pool) {
        return pool == null ? null : PoolConsumer.wanted(pool);
    }

    private <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    /** Slices as a failure shows them: generation, count of slices, of devices and of counter sets. */
    private static List<String> brief(List<Stored> slices) {
        return slices.stream().map(PublishingPropertiesTest::brief).toList();
    }

    private static String brief(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            return "delete " + brief(delete.slice());
        } else if (write instanceof SliceWrite.Update update) {
            return "update " + brief(update.slice()) + " to " + brief(update.content());
        } else if (write instanceof SliceWrite.Create create) {
            return "create " + create.index() + " as " + brief(create.content());
        }
        throw new IllegalArgumentException("A new kind of write: " + write);
    }

    private static String brief(Stored slice) {
        return slice.name() + " (" + brief(slice.content()) + ")";
    }

    private static String brief(Content content) {
        return String.format(
                "%d/%d/%d/%d",
                content.generation(),
                content.sliceCount(),
                content.devices().size(),
                content.counterSets().size());
    }

    /** A driver's memory between two readings of the cluster: its plans, until it restarts. */
    private static final class SimulatedDriver {
        private final SimulatedCluster cluster;
        private final boolean mayTaint;
        private final Map<PoolName, List<PlannedSlice>> plans = new HashMap<>();

        SimulatedDriver(SimulatedCluster cluster, boolean mayTaint) {
            this.cluster = cluster;
            this.mayTaint = mayTaint;
        }

        List<SliceWrite> publish(Pool pool) {
            List<PlannedSlice> before =
                    plans.computeIfAbsent(pool.name(), name -> PlannedSlice.adopt(cluster.of(pool.name())));
            List<PlannedSlice> plan = SlicePlanner.plan(pool, before, mayTaint);
            plans.put(pool.name(), plan);
            return SliceDiff.between(cluster.of(pool.name()), plan, TaintTimes.none());
        }

        List<SliceWrite> withdraw(PoolName pool) {
            plans.remove(pool);
            return SliceDiff.between(cluster.of(pool), List.of(), TaintTimes.none());
        }

        void restart() {
            plans.clear();
        }

        boolean mayTaint() {
            return mayTaint;
        }
    }

    /**
     * Random pools on a server that is upgraded and downgraded at random, and a driver that restarts.
     *
     * <p>In all cases, each write is one that the server takes, the cluster equals the inventory, no
     * write follows, and no consumer sees a complete pool that is half old and half new. Within a
     * release that wants devices with their counter sets, those that go on consuming the same stay in
     * their slices; in the other one, devices are in the inventory's order.
     */
    @Nested
    class OnOtherReleases {

        private static final int RELEASES = 300;

        private List<PlannedSlice> plan = List.of();
        private int upgrades;
        private int jointSlices;

        @ParameterizedTest
        @ValueSource(longs = {1, 2, 3})
        void everyReleaseSeesThePool(long seed) {
            random = new Random(seed);
            cluster = new SimulatedCluster(random);
            pools = new RandomPools(random);
            Pool pool = pools.next("node-a");
            for (int step = 0; step < RELEASES; step++) {
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
                    seed, RELEASES, upgrades, jointSlices);
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
                        .as("one inventory after %s", brief(write))
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
            return SliceDiff.between(cluster.of(pool.name()), plan, TaintTimes.none());
        }
    }
}
