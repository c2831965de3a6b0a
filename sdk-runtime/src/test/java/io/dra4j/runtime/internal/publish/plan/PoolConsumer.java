// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads a pool as the scheduler does. */
final class PoolConsumer {

    /** The content of a complete pool; taints without their times, since those the server adds. */
    record Seen(Set<Placement> placements, Map<String, Device> devices, Map<String, CounterSet> counterSets) {}

    private PoolConsumer() {}

    /** Returns what the pool offers; {@code null} while it is incomplete, or invalid. */
    static @Nullable Seen look(Collection<Stored> slices) {
        long newest =
                slices.stream().mapToLong(s -> s.content().generation()).max().orElse(0);
        List<Content> present = slices.stream()
                .map(Stored::content)
                .filter(content -> content.generation() == newest)
                .toList();
        if (present.stream().noneMatch(content -> content.sliceCount() == present.size())) {
            return null;
        }
        return seen(present);
    }

    /** Returns what a pool offers once it is published. */
    static Seen wanted(Pool pool) {
        Content content = new Content(pool.name(), 0, 1, pool.placement(), pool.devices(), pool.counterSets());
        return seen(List.of(SliceCodec.canonical(content)));
    }

    /** Returns what some slices say together; {@code null} if that is no valid pool. */
    private static @Nullable Seen seen(Collection<Content> contents) {
        Seen seen = new Seen(new TreeSet<>(PoolConsumer::compare), new TreeMap<>(), new TreeMap<>());
        boolean valid = true;
        for (Content content : contents) {
            seen.placements().add(content.placement());
            for (Device device : content.devices()) {
                valid &= seen.devices().put(device.name().value(), undated(device)) == null;
            }
            for (CounterSet set : content.counterSets()) {
                valid &= seen.counterSets().put(set.name(), set) == null;
            }
        }
        return valid ? seen : null;
    }

    private static int compare(Placement one, Placement other) {
        return one.toString().compareTo(other.toString());
    }

    private static Device undated(Device device) {
        return device.toBuilder()
                .taints(device.taints().stream()
                        .map(taint -> Taint.of(taint.key(), taint.value(), taint.effect()))
                        .toList())
                .build();
    }
}
