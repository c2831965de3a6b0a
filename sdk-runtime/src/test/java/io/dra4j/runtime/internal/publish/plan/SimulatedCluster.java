// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The slices as an API server keeps them: it dates taints, versions objects and refuses stale
 * writes, returns map keys in another order and amounts in another notation.
 */
final class SimulatedCluster {

    /** The layout that its release wants. */
    CounterLayout layout = CounterLayout.APART;

    private final Random random;
    private final Map<String, Stored> slices = new TreeMap<>();
    private long version;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    SimulatedCluster(Random random) {
        this.random = random;
    }

    List<Stored> of(PoolName pool) {
        return slices.values().stream()
                .filter(s -> s.content().pool().equals(pool))
                .toList();
    }

    List<Stored> all() {
        return List.copyOf(slices.values());
    }

    void passTime() {
        now = now.plusSeconds(1);
    }

    void apply(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            requireCurrent(delete.slice());
            slices.remove(delete.slice().name());
        } else if (write instanceof SliceWrite.Update update) {
            requireCurrent(update.slice());
            requireSameNode(update.slice().content(), update.content());
            put(update.slice().name(), update.slice().uid(), update.content());
        } else if (write instanceof SliceWrite.Create create) {
            String name = String.format(Locale.ROOT, "%07x-driver-%d", create.index(), ++version);
            put(name, "uid-" + version, create.content());
        }
    }

    void deleteAsAnotherClient(Stored slice) {
        slices.remove(slice.name());
    }

    void changeAsAnotherClient(Stored slice, UnaryOperator<Content> change) {
        put(slice.name(), slice.uid(), change.apply(slice.content()));
    }

    void copyAsAnotherClient(Stored slice, String name) {
        put(name, "uid-" + version, slice.content());
    }

    /** The node is registered again: what its predecessor owned is not its own. */
    void disown() {
        slices.replaceAll(
                (name, slice) -> new Stored(name, slice.uid(), Long.toString(++version), false, slice.content()));
    }

    private void put(String name, String uid, Content content) {
        if (layout == CounterLayout.TOGETHER ? !holdsTogether(content) : !holdsApart(content)) {
            throw new IllegalStateException("422: " + content);
        }
        Content kept =
                content.withDevices(content.devices().stream().map(this::kept).toList());
        slices.put(name, new Stored(name, uid, Long.toString(++version), true, SliceCodec.canonical(kept)));
    }

    private static boolean holdsApart(Content content) {
        return content.devices().size() <= limit(content.devices())
                && content.counterSets().size() <= 8
                && (content.devices().isEmpty() || content.counterSets().isEmpty());
    }

    private static boolean holdsTogether(Content content) {
        List<String> sets = content.counterSets().stream().map(CounterSet::name).toList();
        return content.devices().size() <= 128
                && content.counterSets().stream()
                                .mapToInt(it -> it.counters().size())
                                .sum()
                        <= 32
                && content.devices().stream()
                        .flatMap(device -> device.consumesCounters().stream())
                        .allMatch(consumed -> sets.contains(consumed.counterSet()));
    }

    /** Returns how many devices the API takes in a slice of these. */
    static int limit(List<Device> devices) {
        return devices.stream().anyMatch(SimulatedCluster::isSpecial) ? 64 : 128;
    }

    private static boolean isSpecial(Device device) {
        return !device.taints().isEmpty()
                || !device.consumesCounters().isEmpty()
                || device.attributes().values().stream()
                        .anyMatch(value -> value.toString().contains("values="));
    }

    private void requireCurrent(Stored slice) {
        Stored current = slices.get(slice.name());
        if (current == null || !current.resourceVersion().equals(slice.resourceVersion())) {
            throw new IllegalStateException("409: " + slice.name() + " is " + current);
        }
    }

    private static void requireSameNode(Content before, Content after) {
        if (before.placement() instanceof Placement.ThisNode != after.placement() instanceof Placement.ThisNode) {
            throw new IllegalStateException("422: nodeName is immutable");
        }
    }

    private Device kept(Device device) {
        return device.toBuilder()
                .attributes(RandomDevices.shuffled(device.attributes(), random))
                .capacities(RandomDevices.shuffled(normalised(device.capacities()), random))
                .taints(device.taints().stream().map(this::dated).toList())
                .build();
    }

    private Taint dated(Taint taint) {
        return taint.timeAdded() != null ? taint : new Taint(taint.key(), taint.value(), taint.effect(), now);
    }

    private static Map<String, Capacity> normalised(Map<String, Capacity> capacities) {
        Map<String, Capacity> normalised = new LinkedHashMap<>();
        capacities.forEach((name, capacity) ->
                normalised.put(name, new Capacity(normalised(capacity.value()), capacity.requestPolicy())));
        return normalised;
    }

    private static Quantity normalised(Quantity quantity) {
        BigDecimal amount = quantity.amount().stripTrailingZeros();
        return new Quantity(amount.toPlainString());
    }
}
