// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.PlannedSlice;
import io.dra4j.runtime.internal.publish.plan.SliceWrite;
import io.dra4j.runtime.internal.publish.plan.TaintTimes;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends writes, and compares each answer with what was sent: a server drops fields silently.
 *
 * <p>Used only on the loop's thread.
 */
final class SliceWriter {

    private static final Logger LOG = LoggerFactory.getLogger(SliceWriter.class);

    private final SliceStore store;
    private final SliceView view;
    private volatile boolean stopped;

    SliceWriter(SliceStore store, SliceView view) {
        this.store = store;
        this.view = view;
    }

    /**
     * The result of some writes.
     *
     * @param writes how many were sent
     * @param lost the features that the server left out; the remaining writes were not sent
     */
    record Result(int writes, Set<Feature> lost) {}

    List<Stored> existing(PoolName pool) {
        return view.of(pool);
    }

    /** Keeps the devices of a plan in memory once: those of the slices that have equal ones are replaced by them. */
    void share(PoolName pool, List<PlannedSlice> plan) {
        Map<Integer, List<Device>> planned = new HashMap<>();
        plan.forEach(slice -> planned.put(slice.index(), slice.content().devices()));
        for (Stored slice : view.of(pool)) {
            OptionalInt index = PlannedSlice.indexOf(slice.name());
            List<Device> devices = index.isPresent() ? planned.get(index.getAsInt()) : null;
            if (slice.content().devices().equals(devices)) {
                view.wrote(slice.withContent(slice.content().withDevices(devices)));
            }
        }
    }

    /** Prevents further writes; from any thread. */
    void stop() {
        stopped = true;
    }

    /** Sends writes in order, until one fails or shows that the server leaves out a feature. */
    Result apply(PoolName pool, List<SliceWrite> writes) {
        int sent = 0;
        for (SliceWrite write : writes) {
            if (stopped) {
                throw new CancellationException("the publisher is closed");
            }
            Set<Feature> lost = send(write);
            sent++;
            if (!lost.isEmpty()) {
                return new Result(sent, lost);
            }
        }
        if (sent > 0) {
            LOG.atInfo()
                    .addKeyValue(LogField.POOL, pool)
                    .addKeyValue(LogField.SLICE_COUNT, sent)
                    .log("Brought a pool's ResourceSlices up to date");
        }
        return new Result(sent, Set.of());
    }

    private Set<Feature> send(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            store.delete(delete.slice());
            view.deleted(delete.slice());
            return Set.of();
        }
        if (write instanceof SliceWrite.Update update) {
            Content content = update.content();
            return remember(sent(content, () -> store.update(update.slice(), content)), content);
        }
        SliceWrite.Create create = (SliceWrite.Create) write;
        Content content = create.content();
        return remember(sent(content, () -> store.create(create.index(), content)), content);
    }

    private Stored sent(Content content, Supplier<Stored> request) {
        try {
            return request.get();
        } catch (ClusterException e) {
            if (e.isTransient()) {
                view.mayHaveWritten(content);
            }
            throw e;
        }
    }

    private Set<Feature> remember(Stored stored, Content sent) {
        Content dated = TaintTimes.of(List.of(stored)).keptIn(sent);
        if (stored.content().equals(dated)) {
            view.wrote(stored.withContent(dated)); // the plan's devices, so that they are in memory once
            return Set.of();
        }
        Set<Feature> lost = lost(dated, stored.content());
        if (lost.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue(LogField.POOL, sent.pool())
                    .addKeyValue(LogField.SLICE, stored.name())
                    .log("The API server stored a slice with fields altered or left out");
        }
        // Writing it again would alter it again, so it counts as what was sent.
        view.wrote(lost.isEmpty() ? stored.withContent(dated) : stored);
        return lost;
    }

    private static Set<Feature> lost(Content sent, Content stored) {
        Set<Feature> lost = EnumSet.allOf(Feature.class);
        lost.removeIf(feature -> !feature.isLost(sent, stored));
        return lost;
    }
}
