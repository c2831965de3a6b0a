// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.observe.Notice;
import io.dra4j.runtime.internal.observe.Notice.Reason;
import io.dra4j.runtime.internal.observe.Notices;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the cluster's slices to an inventory, pool by pool, and says when to come back.
 *
 * <p>What fails in one pool leaves the others alone; when the cluster fails as a whole, all wait.
 * Used on the loop's thread alone.
 */
final class InventoryWriter {

    private static final Logger LOG = LoggerFactory.getLogger(InventoryWriter.class);
    private static final String API = "API server";

    private final InstantSource clock;
    private final RandomGenerator random;
    private final boolean mayTaint;
    private final Notices notices;
    private final PoolNotices poolNotices;
    private final Runnable onForeignHand;
    private final SliceStore store;
    private final SliceView view;
    private final SliceWriter writer;
    private final ServerFeatures features;
    private final Map<PoolName, PublishedPool> pools = new TreeMap<>();
    private final Pace outages;
    private final Pace relists;
    private @Nullable Instant relistAt;
    private boolean clusterFails;
    private @Nullable String lastFailure;

    /**
     * Starts with no knowledge of the cluster.
     *
     * @param owner runs tasks on the loop's thread
     * @param onForeignHand called there when there may be something to do before {@link #due}
     */
    InventoryWriter(
            SliceStore store,
            Executor owner,
            InstantSource clock,
            RandomGenerator random,
            boolean mayTaint,
            Notices notices,
            Runnable onForeignHand) {
        this.store = store;
        this.clock = clock;
        this.random = random;
        this.mayTaint = mayTaint;
        this.notices = notices;
        this.poolNotices = new PoolNotices(notices);
        this.onForeignHand = onForeignHand;
        this.view = new SliceView(store, owner, clock, this::onForeignChange, this::onBrokenWatch);
        this.writer = new SliceWriter(store, view);
        this.features = new ServerFeatures(store, clock);
        this.outages = new Pace(random);
        this.relists = new Pace(random);
    }

    /**
     * Writes what differs and is due.
     *
     * @return whether the cluster equals the inventory
     */
    boolean write(Inventory inventory) {
        Instant now = clock.instant();
        if (clusterFails && outages.due().isAfter(now)) {
            return false;
        }
        try {
            if (view.refresh(
                    inventory.pools().stream().anyMatch(InventoryWriter::isForManyNodes))) {
                relistAt = null;
                features.mayHaveChanged();
                pools.values().forEach(PublishedPool::lookAgain);
            }
            boolean all = bringAll(inventory);
            clusterWorks();
            return all;
        } catch (ClusterException e) {
            clusterFailed(e);
            return false;
        }
    }

    private boolean bringAll(Inventory inventory) {
        boolean all = true;
        for (Pool pool : inventory.pools()) {
            if (!(pool.placement() instanceof Placement.PublishedElsewhere)) {
                all &= bring(pool.name(), pool);
            }
        }
        for (PoolName gone : gone(inventory)) {
            boolean withdrawn = bring(gone, null);
            if (withdrawn) {
                pools.remove(gone);
            }
            all &= withdrawn;
        }
        return all;
    }

    private boolean bring(PoolName name, @Nullable Pool pool) {
        PublishedPool published = published(name);
        try {
            return published.bring(pool, clock.instant());
        } catch (ClusterException e) {
            if (e.isTransient()) {
                throw e;
            }
            if (e.isConflict()) {
                view.distrust();
            }
            published.failed(clock.instant(), e);
            return false;
        }
    }

    private Set<PoolName> gone(Inventory inventory) {
        Set<PoolName> gone = new TreeSet<>(view.pools());
        gone.addAll(pools.keySet());
        inventory.pools().forEach(pool -> gone.remove(pool.name()));
        return gone;
    }

    private PublishedPool published(PoolName name) {
        return pools.computeIfAbsent(
                name,
                pool -> new PublishedPool(pool, writer, features, poolNotices, mayTaint, random));
    }

    /** When there is something to do next; empty if nothing is before something happens. */
    Optional<Instant> due() {
        if (clusterFails) {
            return Optional.of(outages.due());
        }
        return Stream.of(
                        pools.values().stream().flatMap(pool -> pool.due().stream()),
                        Stream.of(view.silentAt()),
                        Stream.ofNullable(relistAt))
                .flatMap(due -> due)
                .min(Instant::compareTo);
    }

    private static boolean isForManyNodes(Pool pool) {
        return !(pool.placement() instanceof Placement.ThisNode)
                && !(pool.placement() instanceof Placement.PublishedElsewhere);
    }

    private void onForeignChange(PoolName pool) {
        published(pool).disturbed(clock.instant());
        onForeignHand.run();
    }

    private void onBrokenWatch() {
        relists.disturbed(clock.instant());
        relistAt = relists.due();
        onForeignHand.run();
    }

    private void clusterWorks() {
        outages.succeeded(clock.instant(), 0);
        if (clusterFails) {
            clusterFails = false;
            lastFailure = null;
            LOG.atInfo().log("The API server can be reached again");
            notices.take(
                    new Notice(
                            Reason.PUBLISHING_RECOVERED,
                            API,
                            "The API server can be reached again"));
        }
    }

    private void clusterFailed(ClusterException failure) {
        clusterFails = true;
        view.distrust(); // a write whose answer was lost may have been done
        outages.failed(clock.instant(), failure.retryAfter());
        boolean isNew = !String.valueOf(failure.getMessage()).equals(lastFailure);
        lastFailure = failure.getMessage();
        LOG.atWarn()
                .setCause(isNew ? failure : null)
                .log(
                        "Could not read or write this node's ResourceSlices; will try again: {}",
                        lastFailure);
        Reason reason =
                failure instanceof ClusterException.ApiMissing
                        ? Reason.API_MISSING
                        : Reason.CLUSTER_UNREACHABLE;
        notices.take(new Notice(reason, API, String.valueOf(failure.getMessage()), failure));
    }

    /** Deletes all slices of this driver on this node. */
    void deleteAll() {
        view.distrust();
        view.refresh(true);
        for (PoolName pool : view.pools()) {
            view.of(pool).forEach(store::delete);
        }
    }

    void stop() {
        view.close();
    }
}
