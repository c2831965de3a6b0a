// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the cluster's slices to an inventory, pool by pool: what fails in one pool leaves the
 * others alone, and the last good slices of that pool stay. Used on the loop's thread alone.
 */
final class PoolWriter {

    private static final Logger LOG = LoggerFactory.getLogger(PoolWriter.class);

    private final SliceStore store;
    private final SliceView view;
    private final Map<PoolName, List<PlannedSlice>> plans = new HashMap<>();

    PoolWriter(SliceStore store, Executor owner, Runnable onForeignChange) {
        this.store = store;
        this.view = new SliceView(store, owner, onForeignChange);
    }

    /** How far a round came. */
    enum Outcome {
        /** The cluster equals the inventory. */
        PUBLISHED,
        /** A pool of the inventory can't be written; all others are published. */
        BAD_POOL,
        /** The cluster could not be read or written. */
        CLUSTER_FAILED;

        Outcome and(Outcome other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /** Writes what differs. */
    Outcome write(Inventory inventory) {
        try {
            view.refresh(inventory.pools().stream().anyMatch(PoolWriter::isForManyNodes));
        } catch (ClusterException e) {
            LOG.atWarn()
                    .setCause(e)
                    .log("Could not read the ResourceSlices of this node; will try again");
            return Outcome.CLUSTER_FAILED;
        }
        Outcome all = Outcome.PUBLISHED;
        for (Pool pool : inventory.pools()) {
            if (!(pool.placement() instanceof Placement.PublishedElsewhere)) {
                all = all.and(publish(pool));
            }
        }
        for (PoolName gone : withdrawn(inventory)) {
            all = all.and(withdraw(gone));
        }
        return all;
    }

    void stop() {
        view.close();
    }

    private static boolean isForManyNodes(Pool pool) {
        return !(pool.placement() instanceof Placement.ThisNode)
                && !(pool.placement() instanceof Placement.PublishedElsewhere);
    }

    private Set<PoolName> withdrawn(Inventory inventory) {
        Set<PoolName> gone = new HashSet<>(view.pools());
        inventory.pools().forEach(pool -> gone.remove(pool.name()));
        return gone;
    }

    private Outcome publish(Pool pool) {
        try {
            List<Stored> existing = view.of(pool.name());
            List<PlannedSlice> before =
                    plans.computeIfAbsent(pool.name(), name -> PlannedSlice.adopt(existing));
            List<PlannedSlice> plan = SlicePlanner.plan(pool, before);
            plans.put(pool.name(), plan);
            apply(pool.name(), SliceDiff.between(existing, plan));
            return Outcome.PUBLISHED;
        } catch (IllegalArgumentException e) {
            LOG.atError()
                    .addKeyValue(LogField.POOL.toString(), pool.name())
                    .setCause(e)
                    .log("A pool of the inventory can't be published; its last good slices stay");
            return Outcome.BAD_POOL;
        } catch (ClusterException e) {
            return failed(pool.name(), e);
        }
    }

    private Outcome withdraw(PoolName pool) {
        try {
            plans.remove(pool);
            apply(pool, SliceDiff.between(view.of(pool), List.of()));
            return Outcome.PUBLISHED;
        } catch (ClusterException e) {
            return failed(pool, e);
        }
    }

    private Outcome failed(PoolName pool, ClusterException e) {
        if (e.isConflict()) {
            view.distrust();
        }
        LOG.atWarn()
                .addKeyValue(LogField.POOL.toString(), pool)
                .setCause(e)
                .log("Could not bring a pool's ResourceSlices up to date; will try again");
        return Outcome.CLUSTER_FAILED;
    }

    private void apply(PoolName pool, List<SliceWrite> writes) {
        for (SliceWrite write : writes) {
            if (write instanceof SliceWrite.Delete delete) {
                store.delete(delete.slice());
                view.deleted(delete.slice());
            } else if (write instanceof SliceWrite.Update update) {
                remember(store.update(update.slice(), update.content()), update.content());
            } else if (write instanceof SliceWrite.Create create) {
                remember(store.create(create.index(), create.content()), create.content());
            }
        }
        if (!writes.isEmpty()) {
            LOG.atInfo()
                    .addKeyValue(LogField.POOL.toString(), pool)
                    .addKeyValue(LogField.SLICE_COUNT.toString(), writes.size())
                    .log("Brought a pool's ResourceSlices up to date");
        }
    }

    private void remember(Stored answer, Content sent) {
        Content dated = TaintTimes.of(List.of(answer)).keptIn(sent);
        if (!answer.content().equals(dated)) {
            LOG.atWarn()
                    .addKeyValue(LogField.POOL.toString(), sent.pool())
                    .addKeyValue(LogField.SLICE.toString(), answer.name())
                    .log("The API server left out fields of a slice: their features are off there");
        }
        view.wrote(answer.withContent(dated));
    }
}
