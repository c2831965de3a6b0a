// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Placement;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.Watch;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A cluster in memory: versions, preconditions, watches; fails or forgets fields on demand. */
public final class FakeSliceStore implements SliceStore {

    public final Map<String, Stored> slices = new ConcurrentSkipListMap<>();
    final List<String> writes = new ArrayList<>();
    int lists;
    int questions;
    int versionsRead;
    int conflicts;

    private final SliceCodec codec = new SliceCodec("gpu.example.com", "node-a");

    /** Of which release the server is; 0 if it does not report that. */
    int kubernetesMinor = 36;

    /** Thrown when its release is read, while set. */
    @Nullable
    RuntimeException versionFailure;

    int attempts;

    /** Thrown by each request that changes a slice of the pool that it names, while set. */
    @Nullable
    RuntimeException failure;

    String failingPool = "";

    /** Thrown by each list, while set. */
    @Nullable
    RuntimeException listFailure;

    /** Thrown by each list, while set. */
    @Nullable
    Error listError;

    /** Thrown by each question what the server would keep, while set. */
    @Nullable
    RuntimeException questionFailure;

    /** The server's change to what it is sent. */
    UnaryOperator<Content> keeps = UnaryOperator.identity();

    /** Content that the server refuses with 422, while set. */
    @Nullable
    Predicate<Content> refuses;

    /** Called after each write. */
    Runnable afterWrite = () -> {};

    /** True if creates are done, and then fail as if the response had been lost. */
    boolean losesAnswers;

    /** The same, while the watches go on. */
    boolean losesAnswersOnly;

    /** Called after each begin of a watch. */
    Runnable onWatch = () -> {};

    private final Set<Scope> deaf = EnumSet.noneOf(Scope.class);
    private final Map<Watch.Listener<Stored>, Scope> listeners = new java.util.LinkedHashMap<>();
    private long version = 100;

    @Override
    public String driver() {
        return codec.driver();
    }

    @Override
    public List<FieldError> refusals(Content content, FeatureGates gates) {
        return codec.refusals(content, gates);
    }

    @Override
    public Snapshot list(Scope scope) {
        lists++;
        if (listError != null) {
            throw listError;
        }
        if (listFailure != null) {
            throw listFailure;
        }
        return new Snapshot(
                slices.values().stream()
                        .filter(slice -> scopeOf(slice) == scope && (scope == Scope.NODE || slice.isOurs()))
                        .toList(),
                Long.toString(version));
    }

    @Override
    public Watch watch(Scope scope, String resourceVersion, Watch.Listener<Stored> listener) {
        listeners.put(listener, scope);
        deaf.remove(scope);
        onWatch.run();
        return () -> listeners.remove(listener);
    }

    @Override
    public Stored create(int index, Content content) {
        failFor(content);
        version++;
        String name = String.format(Locale.ROOT, "%07x-driver-node-%d", index, version);
        if (losesAnswers) {
            deafen();
        }
        Stored slice = put(name, "uid-" + version, keeps.apply(content));
        written("create " + content.pool());
        if (losesAnswers || losesAnswersOnly) {
            throw Failures.status(504);
        }
        return slice;
    }

    @Override
    public Content tryCreate(Content content) {
        questions++;
        if (questionFailure != null) {
            throw questionFailure;
        }
        if (refuses != null && refuses.test(content)) {
            throw Failures.invalid("spec.devices[0]: attributes[nodes], capacity[share].requestPolicy");
        }
        return keeps.apply(content);
    }

    @Override
    public Stored update(Stored slice, Content content) {
        failFor(content);
        requireCurrent(slice);
        version++;
        Stored updated = put(slice.name(), slice.uid(), keeps.apply(content));
        written("update " + content.pool());
        if (losesAnswersOnly) {
            throw Failures.status(504);
        }
        return updated;
    }

    @Override
    public void delete(Stored slice) {
        failFor(slice.content());
        requireCurrent(slice);
        remove(slice.name());
        written("delete " + slice.content().pool());
    }

    @Override
    public Optional<Release> kubernetes() {
        versionsRead++;
        if (versionFailure != null) {
            throw versionFailure;
        }
        return kubernetesMinor == 0 ? Optional.empty() : Optional.of(new Release(1, kubernetesMinor));
    }

    /** Deletes as another client does. */
    void remove(String name) {
        version++;
        Stored removed = slices.remove(name);
        sendEvent(removed, listener -> listener.deleted(removed));
    }

    /** Reports late what happened to an earlier slice of the name. */
    void late(String name) {
        Stored earlier =
                new Stored(name, "uid-1", "1", true, slices.get(name).content().withDevices(List.of()));
        sendEvent(earlier, listener -> listener.changed(earlier));
        sendEvent(earlier, listener -> listener.deleted(earlier));
    }

    /** Changes as another client does. */
    void change(String name, UnaryOperator<Content> change) {
        version++;
        Stored slice = slices.get(name);
        put(name, slice.uid(), change.apply(slice.content()));
    }

    void endWatches() {
        List.copyOf(listeners.keySet()).forEach(listener -> listener.ended("too old"));
    }

    /** Lets the watches that are open now hear nothing more. */
    void deafen() {
        deaf.addAll(EnumSet.allOf(Scope.class));
    }

    /** Lets the watch of one scope hear nothing more. */
    void deafen(Scope scope) {
        deaf.add(scope);
    }

    /** Lets requests that change a slice of a pool fail; {@code null} to end that. */
    void failing(String pool, @Nullable RuntimeException with) {
        failingPool = pool;
        failure = with;
        attempts = 0;
    }

    void bookmark(Scope scope) {
        each(scope, Watch.Listener::bookmark);
    }

    int watchCount() {
        return listeners.size();
    }

    private Stored put(String name, String uid, Content content) {
        Stored slice = new Stored(name, uid, Long.toString(version), true, content);
        slices.put(name, slice);
        sendEvent(slice, listener -> listener.changed(slice));
        return slice;
    }

    private void sendEvent(Stored slice, Consumer<Watch.Listener<Stored>> event) {
        if (!deaf.contains(scopeOf(slice))) {
            each(scopeOf(slice), event);
        }
    }

    private void each(Scope scope, Consumer<Watch.Listener<Stored>> event) {
        Map.copyOf(listeners).entrySet().stream()
                .filter(listener -> listener.getValue() == scope)
                .forEach(listener -> event.accept(listener.getKey()));
    }

    private void written(String what) {
        writes.add(what);
        afterWrite.run();
    }

    private void failFor(Content content) {
        if (refuses != null && refuses.test(content)) {
            throw Failures.invalid("spec.devices[0]: attributes[nodes], capacity[share].requestPolicy");
        }
        if (failure != null && content.pool().value().equals(failingPool)) {
            attempts++;
            throw failure;
        }
    }

    private void requireCurrent(Stored slice) {
        Stored current = slices.get(slice.name());
        if (current == null || !current.resourceVersion().equals(slice.resourceVersion())) {
            conflicts++;
            throw Failures.status(409);
        }
    }

    private static Scope scopeOf(Stored slice) {
        return slice.content().placement() instanceof Placement.ThisNode ? Scope.NODE : Scope.CLUSTER;
    }
}
