// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The whole loop against a cluster in which everything goes wrong at random: requests fail, answers
 * are lost, watches end or fall silent, others delete and alter slices, the driver restarts.
 *
 * <p>Once all is quiet the cluster equals the inventory, and nothing is written any more.
 */
@Tag("counts")
class PublishingLoopTest extends PublisherUnderTest {

    private static final int ROUNDS =
            Boolean.getBoolean("dra4j.nightly") ? 5_000 : Boolean.getBoolean("dra4j.full") ? 200 : 10;
    private static final List<String> POOLS = List.of("node-a", "node-b", "node-c");
    private static final int[] FAILURES = {400, 403, 409, 410, 422, 429, 500, 503, 504};

    private Random random = new Random(0);
    private int writes;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void settlesAtTheInventoryInAllCases(long seed) throws Exception {
        random = new Random(seed);
        start();
        for (int round = 0; round < ROUNDS; round++) {
            for (int mishap = random.nextInt(8); mishap >= 0; mishap--) {
                goWrong();
                loop.advance(Duration.ofMillis(random.nextInt(20_000)));
            }
            allIsQuiet();
            check(round);
        }
        System.out.printf("loop: seed %d, %d rounds, %d writes%n", seed, ROUNDS, writes);
    }

    private void goWrong() {
        switch (random.nextInt(9)) {
            case 0 -> store.failing(POOLS.get(random.nextInt(POOLS.size())), failure());
            case 1 -> store.losesAnswers = !store.losesAnswers;
            case 2 -> store.endWatches();
            case 3 -> store.deafen();
            case 4 -> slice().ifPresent(slice -> store.remove(slice.name()));
            case 5 -> slice().ifPresent(this::alter);
            case 6 -> store.listFailure = random.nextBoolean() ? failure() : null;
            case 7 -> {
                writes += store.writes.size();
                restart();
            }
            default -> publish(edited());
        }
    }

    private @Nullable RuntimeException failure() {
        int kind = random.nextInt(FAILURES.length + 1);
        return kind == FAILURES.length ? null : Failures.status(FAILURES[kind]);
    }

    private void alter(Stored slice) {
        store.change(
                slice.name(),
                content -> random.nextBoolean()
                        ? content.withDevices(List.of())
                        : content.at(content.generation() + 1, content.sliceCount()));
    }

    private Optional<Stored> slice() {
        List<Stored> all = List.copyOf(store.slices.values());
        return all.stream().skip(random.nextInt(all.size() + 1)).findFirst();
    }

    private Pool[] edited() {
        List<Pool> pools = new ArrayList<>();
        for (String name : POOLS) {
            if (random.nextInt(5) != 0) {
                Pool same = inventory.pool(new PoolName(name)).orElse(pool(name));
                pools.add(random.nextBoolean() ? pool(name) : same);
            }
        }
        return pools.toArray(Pool[]::new);
    }

    private Pool pool(String name) {
        List<Device> devices = new ArrayList<>();
        int count = random.nextInt(4) == 0 ? 60 + random.nextInt(90) : random.nextInt(5);
        for (int i = 0; i < count; i++) {
            Device.Builder gpu = Device.builder("gpu-" + i).attribute("v", random.nextInt(2));
            if (random.nextInt(20) == 0) {
                gpu.taint(Taint.of("example.com/bad", null, Taint.Effect.NO_SCHEDULE));
            }
            devices.add(gpu.build());
        }
        return Pool.ofNode(name, devices);
    }

    private void allIsQuiet() {
        store.failing("", null);
        store.losesAnswers = false;
        store.listFailure = null;
        // The longest wait for a contested pool, and for a watch that fell silent.
        loop.advance(Duration.ofMinutes(8));
    }

    private void check(int round) throws InterruptedException {
        assertThat(isPublished()).as("round %d", round).isTrue();
        for (String name : POOLS) {
            List<Device> wanted =
                    inventory.pool(new PoolName(name)).map(Pool::devices).orElse(List.of());
            assertThat(devices(name)).as("%s in round %d", name, round).containsExactlyInAnyOrderElementsOf(wanted);
        }
        assertThat(store.slices.values().stream()
                        .map(slice -> slice.content().pool())
                        .distinct())
                .hasSameSizeAs(inventory.pools());
        writes += store.writes.size();
        store.writes.clear();
        publisher.inventoryChanged();
        loop.advance(Duration.ofMinutes(20));
        assertThat(store.writes).as("after round %d", round).isEmpty();
    }
}
