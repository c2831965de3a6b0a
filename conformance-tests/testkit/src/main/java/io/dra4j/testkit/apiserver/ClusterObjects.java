// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.registry.Preconditions;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.registry.Registry.Target;
import io.dra4j.testkit.apiserver.registry.WriteOptions;
import io.dra4j.testkit.apiserver.store.ObjectSelection;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The cluster's objects, for the test or program that runs the server: without HTTP, by the same rules.
 *
 * <p>A resource is named by its plural ({@code resourceslices}) or, if two groups have it, by plural and group
 * ({@code events.events.k8s.io}). Cluster-scoped objects take an empty namespace. Returned trees are copies. Writes
 * go through validation and gates like any other and throw {@link ApiFailure}. Thread-safe.
 */
public final class ClusterObjects {
    private final ResourceKinds kinds;
    private final Registry registry;
    private final ObjectStore store;

    ClusterObjects(ResourceKinds kinds, Registry registry, ObjectStore store) {
        this.kinds = kinds;
        this.registry = registry;
        this.store = store;
    }

    ResourceKinds kinds() {
        return kinds;
    }

    Registry registry() {
        return registry;
    }

    ObjectStore store() {
        return store;
    }

    /** One object, if it exists. */
    public Optional<JsonNode> find(String resource, String namespace, String name) {
        ResourceKind kind = kinds.stored(kinds.named(resource));
        return Optional.ofNullable(store.find(kind, kind.key(namespace, name))).map(StoredObject::copy);
    }

    /** All objects of a resource, in all namespaces, ordered by namespace and name. */
    public List<JsonNode> list(String resource) {
        return store.list(kinds.stored(kinds.named(resource)), ObjectSelection.ALL).objects().stream()
                .<JsonNode>map(StoredObject::copy)
                .toList();
    }

    /**
     * Creates an object or replaces it, including its status, and creates its namespace if missing.
     *
     * <p>This is how a claim gets the allocation that a scheduler would have written. A
     * resourceVersion in the object is ignored.
     *
     * @return the object as it is stored
     */
    public JsonNode put(JsonNode object) {
        return put(object, WriteOptions.DEFAULT);
    }

    /** Like {@link #put(JsonNode)}, but refuses fields that the release does not have. */
    public JsonNode putStrictly(JsonNode object) {
        return put(object, WriteOptions.STRICT);
    }

    private JsonNode put(JsonNode object, WriteOptions options) {
        ObjectNode wanted = normalized(object);
        ResourceKind served = kinds.ofObject(JsonTrees.text(wanted, "apiVersion"), JsonTrees.text(wanted, "kind"));
        ResourceKind kind = kinds.stored(served);
        wanted = Conversion.toStored(served, kind, wanted);
        String namespace = namespaceOf(kind, wanted);
        ObjectKey key = written(kind, namespace, wanted.deepCopy(), options).key();
        if (kind.has(ResourceKind.Trait.STATUS) && wanted.has("status")) {
            JsonNode status = wanted.get("status");
            registry.patch(
                    new Target(kind, key, Part.STATUS),
                    current -> current.set("status", status.deepCopy()),
                    JsonNode::toString,
                    options);
        }
        return registry.get(kind, key).copy();
    }

    private StoredObject written(ResourceKind kind, String namespace, ObjectNode object, WriteOptions options) {
        ObjectNode metadata = JsonTrees.metadata(object);
        metadata.remove(List.of("resourceVersion", "uid"));
        ObjectKey key = kind.key(namespace, metadata.path("name").asText());
        if (store.find(kind, key) == null) {
            return registry.create(kind, namespace, object, options);
        }
        metadata.put("resourceVersion", Long.toString(registry.get(kind, key).revision()));
        return registry.update(new Target(kind, key, Part.MAIN), object, options);
    }

    private String namespaceOf(ResourceKind kind, ObjectNode object) {
        if (!kind.namespaced()) {
            return "";
        }
        String namespace = JsonTrees.at(object, "metadata", "namespace").asText("default");
        ensureNamespace(namespace);
        return namespace;
    }

    void ensureNamespace(String name) {
        ResourceKind namespaces = kinds.namespaces();
        if (store.find(namespaces, namespaces.key("", name)) == null) {
            ObjectNode namespace = JsonTrees.object().put("apiVersion", "v1").put("kind", "Namespace");
            JsonTrees.metadata(namespace).put("name", name);
            registry.create(namespaces, "", namespace, WriteOptions.DEFAULT);
        }
    }

    /** Converts through bytes, so that numbers compare like those of a client. */
    private static ObjectNode normalized(JsonNode object) {
        return (ObjectNode) JsonTrees.parse(new String(JsonTrees.bytes(object), StandardCharsets.UTF_8));
    }

    /**
     * Changes an existing object, except for its status; atomic.
     *
     * @param change gets a copy of the object, and changes it
     * @return the object as it is stored
     */
    public JsonNode change(String resource, String namespace, String name, Consumer<ObjectNode> change) {
        return change(resource, namespace, name, Part.MAIN, change);
    }

    /**
     * Changes the status of an existing object; atomic.
     *
     * @param change gets a copy of the object, and changes its status
     * @return the object as it is stored
     */
    public JsonNode changeStatus(String resource, String namespace, String name, Consumer<ObjectNode> change) {
        return change(resource, namespace, name, Part.STATUS, change);
    }

    private JsonNode change(String resource, String namespace, String name, Part part, Consumer<ObjectNode> change) {
        ResourceKind kind = kinds.stored(kinds.named(resource));
        return registry.patch(
                        new Target(kind, kind.key(namespace, name), part),
                        current -> {
                            change.accept(current);
                            return current;
                        },
                        JsonNode::toString,
                        WriteOptions.DEFAULT)
                .copy();
    }

    /**
     * Changes an object as it is stored, without validation, for example to add fields of a later release. A write
     * through the API drops them again.
     */
    public void changeUnchecked(String resource, String namespace, String name, Consumer<ObjectNode> change) {
        ResourceKind kind = kinds.stored(kinds.named(resource));
        store.write(kind, kind.key(namespace, name), current -> {
            ObjectNode changed = Objects.requireNonNull(current).copy();
            change.accept(changed);
            return changed;
        });
    }

    /** Deletes an object; a missing object is not an error. */
    public void delete(String resource, String namespace, String name) {
        ResourceKind kind = kinds.stored(kinds.named(resource));
        ObjectKey key = kind.key(namespace, name);
        if (store.find(kind, key) != null) {
            registry.delete(kind, key, Preconditions.NONE, false);
        }
    }

    /**
     * Waits until all objects of a resource satisfy a condition, checking after every change.
     *
     * @return the objects that satisfied it
     * @throws AssertionError on a timeout, with the objects that there were instead
     */
    public List<JsonNode> await(String resource, Predicate<List<JsonNode>> wanted, Duration timeout) {
        try {
            if (!store.await(() -> wanted.test(list(resource)), timeout)) {
                throw new AssertionError("after " + timeout + " the " + resource + " were " + list(resource));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + resource, e);
        }
        return list(resource);
    }

    /** Waits until an object of a resource satisfies a condition, and returns it. */
    public JsonNode awaitObject(String resource, Predicate<JsonNode> wanted, Duration timeout) {
        return await(resource, objects -> objects.stream().anyMatch(wanted), timeout).stream()
                .filter(wanted)
                .findFirst()
                .orElseThrow(() -> new AssertionError("the object of " + resource + " went away again"));
    }

    /** Returns whether the server serves a resource. */
    public boolean serves(String resource) {
        return kinds.all().stream().anyMatch(kind -> kind.plural().equals(resource));
    }

    /**
     * Waits until an object has changed since a revision, at most for some time.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitChange(long since, Duration timeout) throws InterruptedException {
        store.await(() -> store.revision() != since, timeout);
    }

    /**
     * Calls back for each object of a resource, then with each change, within the write and on its thread; also for
     * changes in servers that come {@linkplain EmbeddedApiServer.Builder#after after} this one.
     *
     * @param change gets the object before and after, of which one may be null; may read, but neither write nor wait
     */
    public void follow(String resource, BiConsumer<@Nullable JsonNode, @Nullable JsonNode> change) {
        store.follow(kinds.stored(kinds.named(resource)), one -> change.accept(json(one.before()), json(one.after())));
    }

    private static @Nullable JsonNode json(@Nullable StoredObject object) {
        return object == null ? null : object.json();
    }

    /** The oldest known revision; earlier ones have expired. */
    public long oldestRevision() {
        return store.oldestRevision();
    }

    /** The revision of the latest write, which increases with every change of any object. */
    public long revision() {
        return store.revision();
    }
}
