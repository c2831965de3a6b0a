// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Owns every object, the revision counter, a bounded history of changes, and the list of watchers.
 *
 * <p>Thread-safe: one lock guards all of it. Writes are computed under the lock, so they never conflict with each
 * other; watchers are notified under the lock and flushed outside it.
 */
public final class ObjectStore {
    /** Computes what a write makes of the current object: a new tree, the same tree (no change) or null (delete). */
    public interface Mutation {
        @Nullable
        ObjectNode apply(@Nullable StoredObject current);
    }

    private final int historySize;
    // All guarded by this.
    private final Map<ResourceKind, NavigableMap<ObjectKey, StoredObject>> objects = new IdentityHashMap<>();
    private final Map<ResourceKind, Set<Watcher>> watchers = new IdentityHashMap<>();
    private final Deque<CommittedWrite> history = new ArrayDeque<>();
    private long revision = 1;
    private long forgotten = 1;

    public ObjectStore(int historySize) {
        this.historySize = historySize;
    }

    public synchronized long revision() {
        return revision;
    }

    public synchronized @Nullable StoredObject find(ResourceKind kind, ObjectKey key) {
        return objectsOf(kind).get(key);
    }

    public synchronized Listing list(ResourceKind kind, ObjectSelection selection) {
        return Listing.whole(
                revision,
                objectsOf(kind).values().stream().filter(selection::matches).toList());
    }

    /** Returns the revision that the history reaches back to. */
    public synchronized long oldestRevision() {
        return forgotten;
    }

    /** Lists objects at an earlier revision, by undoing the later changes; 410 when they are forgotten. */
    public synchronized Listing listAt(ResourceKind kind, ObjectSelection selection, long asked) {
        if (asked < forgotten) {
            throw ApiFailure.expired(asked, forgotten);
        }
        NavigableMap<ObjectKey, StoredObject> then = new TreeMap<>(objectsOf(kind));
        Iterator<CommittedWrite> latestFirst = history.descendingIterator();
        while (latestFirst.hasNext()) {
            CommittedWrite change = latestFirst.next();
            if (change.revision() > asked && change.kind().equals(kind)) {
                undo(change, then);
            }
        }
        return Listing.whole(
                asked, then.values().stream().filter(selection::matches).toList());
    }

    private static void undo(CommittedWrite change, Map<ObjectKey, StoredObject> objects) {
        StoredObject before = change.before();
        if (before == null) {
            objects.remove(Objects.requireNonNull(change.after()).key());
        } else {
            objects.put(before.key(), before);
        }
    }

    /**
     * Applies a write and notifies the watchers.
     *
     * @return the object after the write; for a deletion the object as it was, at the revision of
     *     its deletion; null if no object existed and none was created
     */
    public @Nullable StoredObject write(ResourceKind kind, ObjectKey key, Mutation mutation) {
        StoredObject result;
        List<Watcher> notified;
        synchronized (this) {
            StoredObject current = objectsOf(kind).get(key);
            ObjectNode next = mutation.apply(current);
            if (current == null ? next == null : current.json().equals(next)) {
                return current;
            }
            result = commit(kind, key, current, next);
            notified = List.copyOf(watchers.getOrDefault(kind, Set.of()));
        }
        notified.forEach(Watcher::flush);
        return result;
    }

    private StoredObject commit(
            ResourceKind kind, ObjectKey key, @Nullable StoredObject current, @Nullable ObjectNode next) {
        revision++;
        StoredObject after = next == null ? null : new StoredObject(kind, key, revision, stamped(next));
        if (after == null) {
            objectsOf(kind).remove(key);
        } else {
            objectsOf(kind).put(key, after);
        }
        CommittedWrite change = new CommittedWrite(kind, revision, current, after);
        remember(change);
        watchers.getOrDefault(kind, Set.of()).forEach(watcher -> watcher.changed(change));
        notifyAll();
        return after != null ? after : Objects.requireNonNull(current).atRevision(revision);
    }

    private ObjectNode stamped(ObjectNode next) {
        JsonTrees.metadata(next).put("resourceVersion", Long.toString(revision));
        return next;
    }

    private void remember(CommittedWrite change) {
        history.addLast(change);
        if (history.size() > historySize) {
            forgotten = history.removeFirst().revision();
        }
    }

    /** Notifies the watcher of all objects of the kind, then of each later change. */
    public synchronized void watchFromNow(ResourceKind kind, Watcher watcher) {
        objectsOf(kind).values().forEach(object -> watcher.changed(CommittedWrite.existing(object)));
        watcher.synced(revision);
        watchersOf(kind).add(watcher);
    }

    /** Notifies the watcher of changes after a revision; 410 if it is too old, 504 if it lies in the future. */
    public synchronized void watchAfter(ResourceKind kind, long from, Watcher watcher) {
        requireReached(from);
        if (from < forgotten) {
            throw ApiFailure.expired(from, forgotten);
        }
        history.stream()
                .filter(change -> change.revision() > from && change.kind().equals(kind))
                .forEach(watcher::changed);
        watchersOf(kind).add(watcher);
    }

    /** Passes on all objects of the kind, then each change, under the lock: a follower must neither write nor wait. */
    public void follow(ResourceKind kind, Consumer<CommittedWrite> follower) {
        watchFromNow(kind, new Follower(follower));
    }

    /** Passes changes on within the write. */
    private record Follower(Consumer<CommittedWrite> follower) implements Watcher {
        @Override
        public void changed(CommittedWrite change) {
            follower.accept(change);
        }

        @Override
        public void synced(long revision) {}

        @Override
        public void bookmark(long revision) {}

        @Override
        public void flush() {}
    }

    /**
     * Takes over the revision of another store, and its objects and followers of kinds that this one has; its history
     * is dropped.
     */
    public synchronized void restore(ObjectStore other, ResourceKinds kinds) {
        revision = other.revision();
        forgotten = revision;
        for (StoredObject object : other.all()) {
            kinds.like(object.kind()).ifPresent(kind -> objectsOf(kind).put(object.key(), object.as(kind)));
        }
        other.watchers.forEach((kind, all) -> kinds.like(kind).ifPresent(same -> keepFollowers(same, all)));
    }

    private void keepFollowers(ResourceKind kind, Set<Watcher> all) {
        all.stream().filter(Follower.class::isInstance).forEach(watchersOf(kind)::add);
    }

    /**
     * Refuses a revision, an unsigned number, that this server has not reached: it comes from an earlier life of the
     * cluster.
     */
    public void requireReached(long asked) {
        long current = revision();
        if (Long.compareUnsigned(asked, current) > 0) {
            throw ApiFailure.tooLargeRevision(asked, current);
        }
    }

    public void bookmark(Watcher watcher) {
        synchronized (this) {
            watcher.bookmark(revision);
        }
        watcher.flush();
    }

    public synchronized void unwatch(ResourceKind kind, Watcher watcher) {
        watchersOf(kind).remove(watcher);
    }

    /** Waits until a condition on the store holds, looking again after every change; false on a timeout. */
    public synchronized boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /** All objects, the one that was written last at the end. */
    public synchronized List<StoredObject> all() {
        List<StoredObject> all = new ArrayList<>();
        objects.values().forEach(ofKind -> all.addAll(ofKind.values()));
        all.sort(Comparator.comparing(StoredObject::revision));
        return all;
    }

    private NavigableMap<ObjectKey, StoredObject> objectsOf(ResourceKind kind) {
        return objects.computeIfAbsent(kind, unseen -> new TreeMap<>());
    }

    private Set<Watcher> watchersOf(ResourceKind kind) {
        return watchers.computeIfAbsent(kind, unseen -> new LinkedHashSet<>());
    }
}
