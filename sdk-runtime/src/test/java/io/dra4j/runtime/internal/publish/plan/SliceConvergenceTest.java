// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random edits of a pool, with crashes between writes and slices deleted by others: in all cases
 * the settled cluster equals the inventory, with the fewest writes, and no consumer ever sees a
 * complete pool that mixes two inventories.
 */
class SliceConvergenceTest {

    /** Small slices make many of them. */
    private static final int LIMIT = 3;

    private static final int STEPS = Boolean.getBoolean("dra4j.nightly") ? 20_000 : 2_000;

    private final Map<String, Stored> cluster = new TreeMap<>();
    private final Set<Map<String, Device>> inventories = new HashSet<>();
    private Map<String, Device> inventory = new LinkedHashMap<>();
    private List<PlannedSlice> last = List.of();
    private long version;
    private int names;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aClusterAlwaysSettlesAtTheInventory(long seed) {
        Random random = new Random(seed);
        long writes = 0;
        for (int step = 0; step < STEPS; step++) {
            boolean settled = step > 0 && random.nextInt(4) != 0;
            edit(random);
            writes += disturbAndSettle(random, settled);
        }
        System.out.printf("convergence: seed %d, %d steps, %d writes%n", seed, STEPS, writes);
    }

    private int disturbAndSettle(Random random, boolean undisturbed) {
        if (!undisturbed) {
            cluster.keySet().removeIf(name -> random.nextInt(4) == 0);
            List<SliceWrite> crashed = diff();
            crashed.subList(0, random.nextInt(crashed.size() + 1)).forEach(this::apply);
            last = PlannedSlice.adopt(cluster.values());
            edit(random);
        }
        Map<String, Content> before = contents();
        List<SliceWrite> writes = diff();
        writes.forEach(this::apply);
        assertThat(consumed()).isEqualTo(inventory);
        assertThat(diff()).as("a second look").isEmpty();
        checkCount(writes, before, undisturbed);
        return writes.size();
    }

    private void checkCount(
            List<SliceWrite> writes, Map<String, Content> before, boolean undisturbed) {
        long puts = writes.stream().filter(w -> !(w instanceof SliceWrite.Delete)).count();
        assertThat(puts).isLessThanOrEqualTo(cluster.size());
        long changed =
                contents().entrySet().stream()
                        .filter(now -> !same(now.getValue(), before.get(now.getKey())))
                        .count();
        if (undisturbed && changed <= 1 && before.keySet().equals(cluster.keySet())) {
            assertThat(writes).hasSize((int) changed);
        }
    }

    private static boolean same(Content now, Content before) {
        return before != null && now.devices().equals(before.devices());
    }

    private Map<String, Content> contents() {
        return cluster.values().stream().collect(Collectors.toMap(Stored::name, Stored::content));
    }

    private void edit(Random random) {
        Map<String, Device> edited = new LinkedHashMap<>(inventory);
        for (int i = random.nextInt(4); i >= 0; i--) {
            String name = "gpu-" + random.nextInt(25);
            if (random.nextInt(3) == 0) {
                edited.remove(name);
            } else {
                edited.put(name, Device.builder(name).attribute("v", random.nextInt(3)).build());
            }
        }
        inventory = edited;
        inventories.add(edited);
    }

    private List<SliceWrite> diff() {
        Map<Integer, List<Device>> held = new TreeMap<>();
        last.forEach(slice -> held.put(slice.index(), slice.content().devices()));
        TreeMap<Integer, List<Device>> placed =
                new Arrangement<Device>(Device::name, LIMIT)
                        .place(List.copyOf(inventory.values()), held, new HashSet<>());
        if (placed.isEmpty()) {
            placed.put(0, List.of());
        }
        List<PlannedSlice> plan = new ArrayList<>();
        placed.forEach((index, devices) -> plan.add(new PlannedSlice(index, content(devices))));
        last = plan;
        return SliceDiff.between(cluster.values(), plan);
    }

    private static Content content(List<Device> devices) {
        return new Content(
                new PoolName("node-a"), 0, 0, new Placement.ThisNode(), devices, List.of());
    }

    private void apply(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            cluster.remove(delete.slice().name());
        } else if (write instanceof SliceWrite.Update update) {
            put(update.slice().name(), update.slice().uid(), update.content());
        } else if (write instanceof SliceWrite.Create create) {
            String name = String.format("%05x-driver-node-a-%d", create.index(), names++);
            put(name, name, create.content());
        }
        Map<String, Device> seen = consumed();
        assertThat(seen == null || inventories.contains(seen))
                .as("a complete pool is one inventory, none is mixed: %s", cluster.values())
                .isTrue();
    }

    private void put(String name, String uid, Content content) {
        cluster.put(name, new Stored(name, uid, Long.toString(++version), true, content));
    }

    /** Reads the pool as the scheduler does; {@code null} while it is incomplete. */
    private Map<String, Device> consumed() {
        long newest =
                cluster.values().stream().mapToLong(s -> s.content().generation()).max().orElse(0);
        List<Content> present =
                cluster.values().stream()
                        .map(Stored::content)
                        .filter(content -> content.generation() == newest)
                        .toList();
        if (present.stream().anyMatch(content -> content.sliceCount() != present.size())
                || present.isEmpty()) {
            return null;
        }
        Map<String, Device> devices = new LinkedHashMap<>();
        present.forEach(c -> c.devices().forEach(d -> devices.put(d.name().value(), d)));
        return devices;
    }

    @Test
    void fourThousandDevicesChangeInOneWriteAndRestartInNone() {
        for (int i = 0; i < 4096; i++) {
            inventory.put("gpu-" + i, Device.builder("gpu-" + i).build());
        }
        inventories.add(inventory);
        diff().forEach(write -> applyQuietly(write));
        assertThat(consumed()).isEqualTo(inventory);

        inventory = new LinkedHashMap<>(inventory);
        inventory.put("gpu-7", Device.builder("gpu-7").attribute("changed", true).build());
        List<SliceWrite> writes = diff();
        assertThat(writes).hasSize(1);
        writes.forEach(this::applyQuietly);
        last = PlannedSlice.adopt(cluster.values());

        assertThat(diff()).isEmpty();
    }

    private void applyQuietly(SliceWrite write) {
        if (write instanceof SliceWrite.Update update) {
            put(update.slice().name(), update.slice().uid(), update.content());
        } else if (write instanceof SliceWrite.Create create) {
            String name = String.format("%05x-driver-node-a-%d", create.index(), names++);
            put(name, name, create.content());
        }
    }
}
