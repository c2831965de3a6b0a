// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles the cluster's slices with an inventory, pool by pool, and returns when to do it again.
 *
 * <p>A failure in one pool does not affect the others; when the cluster fails as a whole, all wait. Used only on the
 * loop's thread.
 */
final class InventoryWriter {

    private static final Logger LOG = LoggerFactory.getLogger(InventoryWriter.class);
    private static final String API = "API server";
    private static final int TOO_MANY_REQUESTS = 429;

    /** A proxy or a load balancer may also answer 404 while it has no API server. */
    private static final Duration MISSING_FOR_GOOD = Duration.ofMinutes(1);

    private final InstantSource clock;
    private final RandomGenerator random;
    private final boolean mayTaint;
    private final EventRecorder events;
    private final PoolEvents poolEvents;
    private final Runnable onDue;
    private final SliceStore store;
    private final SliceView view;
    private final SliceWriter writer;
    private final ServerFeatures features;
    private final Map<PoolName, PublishedPool> pools = new TreeMap<>();
    private final Map<PoolName, Pool> served = new LinkedHashMap<>();
    private Set<PoolName> elsewhere = new HashSet<>();
    private final Retries outages;
    private final Repairs relists;
    private @Nullable Instant relistAt;
    private boolean hasInventory;
    private boolean clusterFails;
    private @Nullable Instant missingSince; // the API, without any other result
    private @Nullable String lastFailure;

    /**
     * Starts with no knowledge of the cluster.
     *
     * @param loop runs tasks on the loop's thread
     * @param onDue called there when there may be something to do earlier than {@link #due} returned
     */
    InventoryWriter(
            SliceStore store,
            Executor loop,
            InstantSource clock,
            RandomGenerator random,
            boolean mayTaint,
            EventRecorder events,
            Runnable onDue) {
        this.store = store;
        this.clock = clock;
        this.random = random;
        this.mayTaint = mayTaint;
        this.events = events;
        this.poolEvents = new PoolEvents(events);
        this.onDue = onDue;
        this.view = new SliceView(store, loop, clock, this::onForeignChange, this::onBrokenWatch);
        this.writer = new SliceWriter(store, view);
        this.features = new ServerFeatures(store, clock);
        this.outages = new Retries(random);
        this.relists = new Repairs(random);
    }

    /**
     * Writes what differs and is due.
     *
     * @return true if the cluster equals the inventory
     */
    boolean write(Inventory inventory) {
        if (isWaiting()) {
            return false;
        }
        if (!hasInventory) {
            hasInventory = true;
            compareAgain(); // the taints in the cluster say nothing about the rest
        }
        served.clear();
        inventory.pools().stream()
                .filter(pool -> !(pool.placement() instanceof Placement.PublishedElsewhere))
                .forEach(pool -> served.put(pool.name(), pool));
        elsewhere = new HashSet<>(inventory.pools().stream().map(Pool::name).toList());
        elsewhere.removeAll(served.keySet());
        pools.keySet().removeIf(pool -> elsewhere.contains(pool) && !isLeftBehind(pool));
        try {
            refresh(served.values().stream().anyMatch(pool -> isForManyNodes(pool.placement())));
            boolean all = bringAll();
            clusterWorks();
            return all;
        } catch (ClusterException e) {
            clusterFailed(e);
            return false;
        }
    }

    /**
     * Writes the taints of the devices that the cluster has, while the inventory is unknown; the rest of its slices
     * stays as it is.
     *
     * @param taints puts the taints on a device that it should have
     * @param areNew whether they may have changed since the last time
     * @return true if the cluster has these taints
     */
    boolean retaint(UnaryOperator<Device> taints, boolean areNew) {
        if (areNew) {
            pools.values().forEach(PublishedPool::somethingNew);
        }
        if (isWaiting()) {
            return false;
        }
        try {
            refresh(false);
            forget(pool -> !view.pools().contains(pool));
            boolean all = true;
            for (PoolName name : view.pools()) {
                all &= bring(name, pool -> pool.retaint(taints, clock.instant()));
            }
            clusterWorks();
            return all;
        } catch (ClusterException e) {
            clusterFailed(e);
            return false;
        }
    }

    /** Returns the pools that no server would accept, a line each; asks none, from any thread. */
    List<String> refused(Inventory inventory) {
        PoolRules rules = new PoolRules(store.driver(), store::refusals);
        return inventory.pools().stream()
                .flatMap(pool -> PublishedPool.problems(pool, rules).stream().limit(1))
                .map(Problem::toString)
                .toList();
    }

    /** Returns the devices of this node's slices, as far as is known. */
    List<Device> stored() {
        return view.pools().stream()
                .flatMap(pool -> view.of(pool).stream())
                .filter(Stored::isOurs)
                .flatMap(slice -> slice.content().devices().stream())
                .toList();
    }

    /** Makes the next write read the slices again, and continue from them: another process may have written them. */
    void forgetAll() {
        view.invalidate();
        pools.clear();
    }

    private void forget(Predicate<PoolName> gone) {
        List<PoolName> forgotten = pools.keySet().stream().filter(gone).toList();
        pools.keySet().removeAll(forgotten);
        forgotten.forEach(poolEvents::removed);
    }

    private boolean isWaiting() {
        return clusterFails && outages.due().isAfter(clock.instant());
    }

    private void refresh(boolean cluster) {
        if (view.refresh(cluster)) {
            relistAt = null;
            compareAgain();
        }
    }

    /** Makes the next write compare all pools with what is known about the cluster. */
    void compareAgain() {
        pools.values().forEach(PublishedPool::compareAgain);
    }

    private boolean bringAll() {
        Set<PoolName> removed = new TreeSet<>(view.pools());
        removed.addAll(pools.keySet());
        removed.removeAll(served.keySet());
        removed.removeIf(pool -> elsewhere.contains(pool) && !isLeftBehind(pool));
        boolean all = true;
        for (Pool pool : served.values()) {
            all &= bring(pool.name(), it -> it.bring(pool, clock.instant()));
        }
        for (PoolName name : removed) {
            boolean done = bring(name, it -> it.bring(null, clock.instant()));
            if (done) {
                pools.remove(name);
                poolEvents.removed(name);
            }
            all &= done;
        }
        return all;
    }

    /** Returns whether this node has slices for many nodes of a pool that has moved to a controller since. */
    private boolean isLeftBehind(PoolName pool) {
        return store.scopes().contains(Scope.NODE)
                && view.of(pool).stream()
                        .anyMatch(slice -> isForManyNodes(slice.content().placement()));
    }

    /**
     * Reconciles one pool; its failure does not affect the others.
     *
     * @throws ClusterException if the server asks clients to wait, or can't be reached
     */
    private boolean bring(PoolName name, Predicate<PublishedPool> step) {
        PublishedPool published = published(name);
        try {
            return step.test(published);
        } catch (ClusterException e) {
            if (e.retryAfter() != null || e.status() == TOO_MANY_REQUESTS) {
                throw e; // not about this pool
            }
            if (e.isConflict() || e.isTransient()) {
                view.invalidate(); // a write whose response was lost may have been done
            } else {
                features.refused();
            }
            published.failed(clock.instant(), e);
            if (e.status() == 0) {
                throw e; // perhaps only this pool hangs; the others come first next time
            }
            return false;
        } catch (CancellationException e) {
            return false;
        } catch (RuntimeException e) { // a bug, in this pool only
            LOG.atError()
                    .addKeyValue(LogField.POOL, name)
                    .setCause(published.failed(clock.instant(), e) ? e : null)
                    .log("Publishing a pool failed unexpectedly; will try again: {}", e.toString());
            return false;
        }
    }

    private PublishedPool published(PoolName name) {
        return pools.computeIfAbsent(
                name, pool -> new PublishedPool(pool, writer, features, poolEvents, mayTaint, random));
    }

    /** Returns the time of the next step; empty if only an event causes one. */
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

    /** Returns whether the cluster's slices may have a device, as far as is known. */
    boolean mayHave(PoolName pool, DeviceName device) {
        return clusterFails
                || !view.isCurrent()
                || view.of(pool).stream()
                        .flatMap(slice -> slice.content().devices().stream())
                        .anyMatch(stored -> stored.name().equals(device));
    }

    /** Returns the publish status, as far as is known. */
    PublishStatus status() {
        List<String> missing = new ArrayList<>();
        if (clusterFails) {
            missing.add(API + ": " + lastFailure);
        }
        Set<PoolName> wanted = new TreeSet<>(pools.keySet());
        wanted.addAll(served.keySet());
        int before = missing.size();
        List<String> leftOut = new ArrayList<>();
        for (PoolName name : wanted) {
            PublishedPool pool = published(name);
            pool.missing().ifPresent(why -> missing.add("pool " + name + ": " + why));
            pool.leftOut().values().forEach(problem -> leftOut.add("left out: " + problem));
        }
        return new PublishStatus(view.size(), missing.size() - before, missing, leftOut);
    }

    private static boolean isForManyNodes(Placement placement) {
        return !(placement instanceof Placement.ThisNode);
    }

    private void onForeignChange(PoolName pool) {
        if (elsewhere.contains(pool)) {
            return;
        }
        published(pool).disturbed(clock.instant());
        onDue.run();
    }

    private void onBrokenWatch() {
        relists.undone(clock.instant());
        relistAt = relists.due();
        features.probeAgain();
        onDue.run();
    }

    private void clusterWorks() {
        outages.succeeded();
        clusterFails = false;
        missingSince = null;
        if (lastFailure != null && pools.values().stream().noneMatch(PublishedPool::isFailing)) {
            lastFailure = null;
            LOG.atInfo().log("The API server can be reached again");
            events.record(new DriverEvent(Reason.PUBLISHING_RECOVERED, API, "The API server can be reached again"));
        }
    }

    private void clusterFailed(ClusterException failure) {
        clusterFails = true;
        view.invalidate(); // a write whose response was lost may have been done
        features.probeAgain();
        outages.failed(clock.instant(), failure.retryAfter());
        boolean isNew = !String.valueOf(failure.getMessage()).equals(lastFailure);
        lastFailure = failure.getMessage();
        LOG.atWarn()
                .setCause(isNew ? failure : null)
                .log("Could not read or write this node's ResourceSlices; will try again: {}", lastFailure);
        Reason reason = isMissingForGood(failure) ? Reason.API_MISSING : Reason.CLUSTER_UNREACHABLE;
        events.record(new DriverEvent(reason, API, String.valueOf(failure.getMessage()), failure));
    }

    private boolean isMissingForGood(ClusterException failure) {
        if (!(failure instanceof ClusterException.ApiMissing)) {
            missingSince = null;
            return false;
        }
        missingSince = missingSince == null ? clock.instant() : missingSince;
        return !clock.instant().isBefore(missingSince.plus(MISSING_FOR_GOOD));
    }

    /**
     * Deletes all slices of this driver on this node, as far as it publishes their pools.
     *
     * @return how many could not be deleted
     * @throws ClusterException if they can't be listed
     */
    int deleteAll() {
        view.invalidate();
        view.refresh(true);
        int left = 0;
        for (PoolName pool : view.pools()) {
            if (!elsewhere.contains(pool) || isLeftBehind(pool)) {
                left += (int) view.of(pool).stream()
                        .filter(slice -> slice.isOurs() && !isDeleted(slice))
                        .count();
            }
        }
        return left;
    }

    private boolean isDeleted(Stored slice) {
        try {
            store.delete(slice);
            return true;
        } catch (ClusterException e) {
            LOG.atWarn().addKeyValue(LogField.SLICE, slice.name()).setCause(e).log("Could not delete a ResourceSlice");
            return false;
        }
    }

    /** Prevents further writes; from any thread. */
    void stopWriting() {
        writer.stop();
    }

    /** Ends the watches. */
    void close() {
        view.close();
    }

    /**
     * The status of publishing, after a round.
     *
     * @param slices how many slices of this driver the cluster has
     * @param unpublishedPools how many pools the cluster does not have as the provider has them
     * @param missing what is missing, a line each
     * @param leftOut the devices that break a rule of the API, a line each
     */
    record PublishStatus(int slices, int unpublishedPools, List<String> missing, List<String> leftOut) {}
}
