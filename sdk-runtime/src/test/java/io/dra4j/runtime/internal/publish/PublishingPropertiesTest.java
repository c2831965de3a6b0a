// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.Brief;
import io.dra4j.runtime.internal.publish.plan.PoolConsumer;
import io.dra4j.runtime.internal.publish.plan.PoolConsumer.Seen;
import io.dra4j.runtime.internal.publish.plan.RandomPools;
import io.dra4j.runtime.internal.publish.plan.SettledPool;
import io.dra4j.runtime.internal.publish.plan.SimulatedCluster;
import io.dra4j.runtime.internal.publish.plan.SimulatedDriver;
import io.dra4j.runtime.internal.publish.plan.SliceWrite;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
                    .as("%s is one inventory after %s", Brief.of(cluster.of(name)), Brief.of(write))
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
}
