// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Owns every object, the revision counter, a bounded history of changes, and the list of watchers.
 *
 * <p>Thread-safe: one lock guards all of it. Writes are computed under the lock, so that they never
 * conflict inside; watchers are notified under the lock and flushed outside it.
 */
public final class ObjectStore {
    /**
     * Computes what a write makes of the current object: a new tree, the same tree (no change) or
     * null (delete).
     */
    public interface Mutation {
        @Nullable ObjectNode apply(@Nullable StoredObject current);
    }

    private final int historySize;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // All guarded by lock.
    private final Map<ResourceKind, NavigableMap<ObjectKey, StoredObject>> objects =
            new IdentityHashMap<>();
    private final Map<ResourceKind, Set<Watcher>> watchers = new IdentityHashMap<>();
    private final Deque<Change> history = new ArrayDeque<>();
    private long revision = 1;
    private long forgotten = 1;

    public ObjectStore(int historySize) {
        this.historySize = historySize;
    }

    public long revision() {
        lock.lock();
        try {
            return revision;
        } finally {
            lock.unlock();
        }
    }

    public @Nullable StoredObject find(ResourceKind kind, ObjectKey key) {
        lock.lock();
        try {
            return objectsOf(kind).get(key);
        } finally {
            lock.unlock();
        }
    }

    public Listing list(ResourceKind kind, Selection selection) {
        lock.lock();
        try {
            return Listing.whole(
                    revision,
                    objectsOf(kind).values().stream().filter(selection::matches).toList());
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the history reaches back to that revision. */
    public boolean remembers(long asked) {
        lock.lock();
        try {
            return asked >= forgotten;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lists what there was at an earlier revision, by undoing what the history has since.
     *
     * @throws ApiFailure 410 Expired when the history no longer reaches back that far
     */
    public Listing listAt(ResourceKind kind, Selection selection, long asked) {
        lock.lock();
        try {
            if (asked < forgotten) {
                throw ApiFailure.expired(asked, forgotten);
            }
            NavigableMap<ObjectKey, StoredObject> then = new TreeMap<>(objectsOf(kind));
            Iterator<Change> latestFirst = history.descendingIterator();
            while (latestFirst.hasNext()) {
                Change change = latestFirst.next();
                if (change.revision() > asked && change.kind().equals(kind)) {
                    undo(change, then);
                }
            }
            return Listing.whole(asked, then.values().stream().filter(selection::matches).toList());
        } finally {
            lock.unlock();
        }
    }

    private static void undo(Change change, Map<ObjectKey, StoredObject> objects) {
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
     *     its deletion; null when there was nothing and nothing was made
     */
    public @Nullable StoredObject write(ResourceKind kind, ObjectKey key, Mutation mutation) {
        StoredObject result;
        List<Watcher> notified;
        lock.lock();
        try {
            StoredObject current = objectsOf(kind).get(key);
            ObjectNode next = mutation.apply(current);
            if (current == null ? next == null : current.json().equals(next)) {
                return current;
            }
            result = commit(kind, key, current, next);
            notified = List.copyOf(watchers.getOrDefault(kind, Set.of()));
        } finally {
            lock.unlock();
        }
        notified.forEach(Watcher::flush);
        return result;
    }

    private StoredObject commit(
            ResourceKind kind,
            ObjectKey key,
            @Nullable StoredObject current,
            @Nullable ObjectNode next) {
        revision++;
        StoredObject after =
                next == null ? null : new StoredObject(kind, key, revision, stamped(next));
        if (after == null) {
            objectsOf(kind).remove(key);
        } else {
            objectsOf(kind).put(key, after);
        }
        Change change = new Change(kind, revision, current, after);
        remember(change);
        watchers.getOrDefault(kind, Set.of()).forEach(watcher -> watcher.changed(change));
        changed.signalAll();
        return after != null ? after : Objects.requireNonNull(current).atRevision(revision);
    }

    private ObjectNode stamped(ObjectNode next) {
        Json.metadata(next).put("resourceVersion", Long.toString(revision));
        return next;
    }

    private void remember(Change change) {
        history.addLast(change);
        if (history.size() > historySize) {
            forgotten = history.removeFirst().revision();
        }
    }

    /** Notifies the watcher of all objects of the kind, then of each later change. */
    public void watchFromNow(ResourceKind kind, Watcher watcher) {
        lock.lock();
        try {
            objectsOf(kind).values().forEach(object -> watcher.changed(Change.existing(object)));
            watcher.synced(revision);
            watchersOf(kind).add(watcher);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Notifies the watcher of every change after that revision.
     *
     * @throws ApiFailure 410 Expired when the history no longer reaches back that far, 504 when it
     *     lies in the future
     */
    public void watchAfter(ResourceKind kind, long from, Watcher watcher) {
        lock.lock();
        try {
            if (from < forgotten) {
                throw ApiFailure.expired(from, forgotten);
            }
            requireReached(from);
            history.stream()
                    .filter(change -> change.revision() > from && change.kind().equals(kind))
                    .forEach(watcher::changed);
            watchersOf(kind).add(watcher);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Refuses a revision that this server has not reached: it comes from an earlier life of the
     * cluster.
     */
    public void requireReached(long asked) {
        long current = revision();
        if (asked > current) {
            throw ApiFailure.tooLargeRevision(asked, current);
        }
    }

    public void bookmark(Watcher watcher) {
        lock.lock();
        try {
            watcher.bookmark(revision);
        } finally {
            lock.unlock();
        }
        watcher.flush();
    }

    public void unwatch(ResourceKind kind, Watcher watcher) {
        lock.lock();
        try {
            watchersOf(kind).remove(watcher);
        } finally {
            lock.unlock();
        }
    }

    int watcherCount() {
        lock.lock();
        try {
            return watchers.values().stream().mapToInt(Set::size).sum();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a condition on the store holds, looking again after every change.
     *
     * @return false when the time is over
     */
    public boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (!condition.getAsBoolean()) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    public List<StoredObject> all() {
        lock.lock();
        try {
            List<StoredObject> all = new ArrayList<>();
            objects.values().forEach(ofKind -> all.addAll(ofKind.values()));
            return all;
        } finally {
            lock.unlock();
        }
    }

    private NavigableMap<ObjectKey, StoredObject> objectsOf(ResourceKind kind) {
        return objects.computeIfAbsent(kind, unseen -> new TreeMap<>());
    }

    private Set<Watcher> watchersOf(ResourceKind kind) {
        return watchers.computeIfAbsent(kind, unseen -> new LinkedHashSet<>());
    }
}
