// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Keeps the times that the server gave to taints.
 *
 * <p>A taint without a time begins when it is first published. Written again without that time, it would begin again,
 * and tolerations with {@code tolerationSeconds} would start over. Times are kept while a driver runs, even if its
 * slices are deleted; a driver that starts afterwards can't know them.
 */
public final class TaintTimes {

    private final Map<Object, Device> published;

    private TaintTimes(Map<Object, Device> published) {
        this.published = published;
    }

    public static TaintTimes none() {
        return new TaintTimes(Map.of());
    }

    /** Returns the times of these slices, and earlier known times for taints that they lack. */
    TaintTimes and(Collection<Stored> slices) {
        Map<Object, Device> both = new HashMap<>(published);
        both.putAll(of(slices).published);
        return new TaintTimes(both);
    }

    public static TaintTimes of(Collection<Stored> slices) {
        return new TaintTimes(slices.stream()
                .flatMap(slice -> slice.content().devices().stream())
                .filter(device -> !device.taints().isEmpty())
                .collect(Collectors.toMap(Device::name, Function.identity(), (one, other) -> one)));
    }

    /** Returns the content with the published time in each taint that has none. */
    public Content keptIn(Content content) {
        if (content.devices().stream().noneMatch(this::needsTime)) {
            return content;
        }
        return content.withDevices(content.devices().stream().map(this::dated).toList());
    }

    private boolean needsTime(Device device) {
        return device.taints().stream().anyMatch(taint -> taint.timeAdded() == null)
                && published.containsKey(device.name());
    }

    private Device dated(Device device) {
        if (!needsTime(device)) {
            return device;
        }
        List<Taint> before = published.get(device.name()).taints();
        return device.toBuilder()
                .taints(device.taints().stream()
                        .map(taint -> dated(taint, before))
                        .toList())
                .build();
    }

    private static Taint dated(Taint taint, List<Taint> before) {
        if (taint.timeAdded() != null) {
            return taint;
        }
        return before.stream()
                .filter(earlier -> isSame(taint, earlier))
                .findFirst()
                .orElse(taint);
    }

    private static boolean isSame(Taint one, Taint other) {
        return one.key().equals(other.key())
                && Objects.equals(one.value(), other.value())
                && one.effect() == other.effect();
    }

    /**
     * Finds the updates of taints in a pool that is known only from the cluster.
     *
     * <p>Each slice that differs is updated separately, and keeps its generation. Consumers need a new generation only
     * so that they do not mistake half of an old pool and half of a new one for a whole; taints of one device are
     * independent of another's. An interrupted new generation would leave the pool incomplete forever.
     */
    public static final class TaintUpdates {

        private TaintUpdates() {}

        /**
         * Returns the updates.
         *
         * @param slices the slices of a pool, all of them decoded
         * @param taints puts the taints on a device that it should have, and changes nothing else
         * @param before the start times of taints that the cluster may no longer have
         */
        public static List<SliceWrite> of(Collection<Stored> slices, UnaryOperator<Device> taints, TaintTimes before) {
            TaintTimes times = before.and(slices);
            List<SliceWrite> updates = new ArrayList<>();
            for (Stored slice : slices) {
                Content content = slice.content();
                Content tainted = times.keptIn(content.withDevices(
                        content.devices().stream().map(taints).toList()));
                if (!tainted.equals(content)) {
                    updates.add(new SliceWrite.Update(slice, tainted));
                }
            }
            return updates;
        }

        /**
         * Returns the updates for a server that keeps no taints.
         *
         * <p>Devices that would lose a taint that keeps workloads away are withdrawn.
         */
        public static List<SliceWrite> withdrawals(Collection<Stored> slices, UnaryOperator<Device> taints) {
            List<SliceWrite> updates = new ArrayList<>();
            for (Stored slice : slices) {
                List<Device> left = slice.content().devices().stream()
                        .filter(device -> isAsGuarded(device, taints.apply(device)))
                        .toList();
                if (left.size() < slice.content().devices().size()) {
                    updates.add(new SliceWrite.Update(slice, slice.content().withDevices(left)));
                }
            }
            return updates;
        }

        private static boolean isAsGuarded(Device stored, Device tainted) {
            return Feature.TAINTS.guard(stored).equals(Feature.TAINTS.guard(tainted));
        }
    }
}
