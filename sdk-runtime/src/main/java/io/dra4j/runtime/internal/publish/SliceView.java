// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.Silence;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Snapshot;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.cluster.Watch;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.publish.plan.TaintTimes;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The publisher's view of its slices in the cluster: one list, then watch events and its own
 * writes. Used only on the loop's thread; watch events are handed over to it.
 *
 * <p>An event about a write of this publisher, or an older event, changes nothing: versions are compared as numbers. A
 * slice that was written counts as what was sent, even if the server left something out: writing it again would leave
 * it out again.
 */
final class SliceView implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SliceView.class);

    private final SliceStore store;
    private final Executor loop;
    private final InstantSource clock;
    private final Consumer<PoolName> onForeignChange;
    private final Runnable onBroken;
    private final List<Watch> watches = new ArrayList<>();
    private final List<Events> listeners = new ArrayList<>();
    private final List<Content> unanswered = new ArrayList<>();
    private Map<String, Stored> slices = new HashMap<>();
    private boolean current;
    private boolean watchesCluster;
    private int epoch;

    /**
     * Starts with no knowledge.
     *
     * @param loop runs tasks on the loop's thread
     * @param clock measures how long a watch has been silent
     * @param onForeignChange called there after another client changed or deleted a slice of a pool
     * @param onBroken called there after a watch ended
     */
    SliceView(
            SliceStore store,
            Executor loop,
            InstantSource clock,
            Consumer<PoolName> onForeignChange,
            Runnable onBroken) {
        this.store = store;
        this.loop = loop;
        this.clock = clock;
        this.onForeignChange = onForeignChange;
        this.onBroken = onBroken;
    }

    /**
     * Lists and watches again, unless the view is current.
     *
     * @param cluster whether slices for devices of no single node are also published
     * @return true if it listed, so that anything may have changed
     */
    boolean refresh(boolean cluster) {
        if (current && (watchesCluster || !cluster) && clock.instant().isBefore(silentAt())) {
            return false;
        }
        close();
        Map<Scope, Snapshot> snapshots = new EnumMap<>(Scope.class);
        Map<String, Stored> listed = new HashMap<>();
        watchesCluster = cluster || !store.scopes().contains(Scope.NODE);
        for (Scope scope : store.scopes()) {
            snapshots.put(scope, store.list(scope));
            for (Stored slice : snapshots.get(scope).slices()) {
                listed.put(slice.name(), known(slice));
                watchesCluster |= scope == Scope.CLUSTER;
            }
        }
        slices = listed;
        unanswered.clear();
        snapshots.keySet().removeIf(scope -> scope == Scope.CLUSTER && !watchesCluster);
        snapshots.forEach(this::watch);
        current = true;
        return true;
    }

    /** Returns the time when a watch will have been silent for so long that it is treated as dead. */
    Instant silentAt() {
        return current
                ? listeners.stream()
                        .map(events -> events.silence.end())
                        .min(Instant::compareTo)
                        .orElse(Instant.MAX)
                : Instant.MAX;
    }

    /** Invalidates this view: the next refresh lists again. */
    void invalidate() {
        current = false;
    }

    /** Returns whether this view is current; false if a refresh would list again. */
    boolean isCurrent() {
        return current;
    }

    int size() {
        return slices.size();
    }

    Set<PoolName> pools() {
        Set<PoolName> pools = new TreeSet<>();
        slices.values().forEach(slice -> pools.add(slice.content().pool()));
        return pools;
    }

    List<Stored> of(PoolName pool) {
        return slices.values().stream()
                .filter(s -> s.content().pool().equals(pool))
                .toList();
    }

    /** Remembers a write without a response: an event may show that it was done. */
    void mayHaveWritten(Content content) {
        unanswered.add(content);
    }

    void wrote(Stored slice) {
        slices.put(slice.name(), slice);
    }

    void deleted(Stored slice) {
        slices.remove(slice.name());
    }

    private Stored known(Stored listed) {
        Stored known = slices.get(listed.name());
        return known != null && known.resourceVersion().equals(listed.resourceVersion())
                ? listed.withContent(known.content())
                : listed;
    }

    private void watch(Scope scope, Snapshot from) {
        Events events = new Events(scope, epoch);
        watches.add(store.watch(scope, from.resourceVersion(), events));
        listeners.add(events);
    }

    private void onChanged(Scope scope, Stored slice) {
        Stored known = slices.get(slice.name());
        if (known == null && scope == Scope.CLUSTER && !slice.isOurs()) {
            return;
        }
        if (known != null && !isNewer(slice, known)) {
            return;
        }
        slices.put(slice.name(), slice);
        if (isOwnWrite(slice)) {
            return;
        }
        if (known == null || !isSame(slice, known)) {
            onForeignChange.accept(slice.content().pool());
        }
    }

    private boolean isOwnWrite(Stored slice) {
        TaintTimes times = TaintTimes.of(List.of(slice));
        return unanswered.removeIf(content -> times.keptIn(content).equals(slice.content()));
    }

    private void onDeleted(Stored slice) {
        Stored known = slices.get(slice.name());
        if (known != null && known.uid().equals(slice.uid())) { // a controller uses the names of its slices again
            slices.remove(slice.name());
            // The node itself may be gone, and its slices with it: list() asks for it again.
            current = false;
            onForeignChange.accept(slice.content().pool());
        }
    }

    private void onEnded() {
        current = false;
        onBroken.run();
    }

    private static boolean isNewer(Stored slice, Stored known) {
        return version(slice.resourceVersion()) > version(known.resourceVersion());
    }

    private static boolean isSame(Stored slice, Stored known) {
        return slice.uid().equals(known.uid())
                && slice.isOurs() == known.isOurs()
                && slice.isDecoded() == known.isDecoded()
                && slice.content().equals(known.content());
    }

    /** Kubernetes 1.35 guarantees numbers, and all earlier servers use them. */
    private static long version(@Nullable String resourceVersion) {
        return resourceVersion != null && resourceVersion.matches("[0-9]{1,18}")
                ? Long.parseLong(resourceVersion)
                : Long.MAX_VALUE;
    }

    /** Ends the watches; events that are still on their way are dropped. */
    @Override
    public void close() {
        epoch++;
        current = false;
        watches.forEach(Watch::close);
        watches.clear();
        listeners.clear();
    }

    /** Events of one watch, handed over to the loop's thread. */
    private final class Events implements Watch.Listener<Stored> {
        private final Scope scope;
        private final int epochOfWatch;
        private final Silence silence = new Silence(clock);

        Events(Scope scope, int epochOfWatch) {
            this.scope = scope;
            this.epochOfWatch = epochOfWatch;
        }

        @Override
        public void changed(Stored slice) {
            hand(() -> onChanged(scope, slice));
        }

        @Override
        public void deleted(Stored slice) {
            hand(() -> onDeleted(slice));
        }

        @Override
        public void bookmark() {
            hand(() -> {});
        }

        @Override
        public void ended(String reason) {
            LOG.atDebug()
                    .addKeyValue(LogField.REASON, reason)
                    .log("A watch of the ResourceSlices ended; they are listed again");
            hand(SliceView.this::onEnded);
        }

        private void hand(Runnable event) {
            loop.execute(() -> {
                if (epochOfWatch == epoch) {
                    silence.broken();
                    event.run();
                }
            });
        }
    }
}
