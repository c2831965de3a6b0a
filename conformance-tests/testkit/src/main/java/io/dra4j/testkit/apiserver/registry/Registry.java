// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.apply.Ownership;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.ObjectStore.Mutation;
import io.dra4j.testkit.apiserver.store.Selection;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.Canonical;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import io.dra4j.testkit.apiserver.validation.Schema;
import io.dra4j.testkit.apiserver.validation.Strategy;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The verbs of the API on the object store, without HTTP.
 *
 * <p>Thread-safe. Bodies given to it become its own. Every refusal is an {@link ApiFailure}.
 */
public final class Registry {
    private final ResourceKinds kinds;
    private final ObjectStore store;
    private final Schema schema;
    private final MetadataRules metadata;
    private final Ownership ownership;
    private final Map<String, Strategy> strategies;

    /**
     * @param strategies by plural; a kind without one is plain
     */
    public Registry(
            ResourceKinds kinds,
            ObjectStore store,
            Schema schema,
            MetadataRules metadata,
            Map<String, Strategy> strategies) {
        this.kinds = kinds;
        this.store = store;
        this.schema = schema;
        this.metadata = metadata;
        this.ownership = new Ownership(metadata);
        this.strategies = Map.copyOf(strategies);
    }

    public StoredObject get(ResourceKind kind, ObjectKey key) {
        StoredObject object = store.find(kind, key);
        if (object == null) {
            throw ApiFailure.notFound(kind, key.name());
        }
        return object;
    }

    public StoredObject create(
            ResourceKind kind, String namespace, ObjectNode body, WriteOptions options) {
        MetadataRules.requireFits(kind, namespace, body);
        if (!Json.text(body, "metadata", "resourceVersion").isEmpty()) {
            throw ApiFailure.badRequest(
                    "resourceVersion should not be set on objects to be created");
        }
        ObjectKey key = newKey(kind, namespace, body);
        return commit(
                kind,
                key,
                options.dryRun(),
                current -> {
                    requireNamespace(kind, namespace);
                    if (current != null) {
                        throw ApiFailure.alreadyExists(kind, key.name());
                    }
                    return created(kind, key, body, options);
                });
    }

    private ObjectKey newKey(ResourceKind kind, String namespace, ObjectNode body) {
        String name = Json.text(body, "metadata", "name");
        String base = Json.text(body, "metadata", "generateName");
        if (!name.isEmpty()) {
            return kind.key(namespace, name);
        }
        if (base.isEmpty()) {
            FieldErrors errors = new FieldErrors();
            errors.required("metadata.name", "name or generateName is required");
            throw ApiFailure.invalid(kind, "", errors.all());
        }
        ObjectKey key = kind.key(namespace, MetadataRules.generatedName(base));
        return store.find(kind, key) == null ? key : newKey(kind, namespace, body);
    }

    private void requireNamespace(ResourceKind kind, String namespace) {
        ResourceKind namespaces = kinds.namespaces();
        if (kind.namespaced() && store.find(namespaces, namespaces.key("", namespace)) == null) {
            throw ApiFailure.notFound(namespaces, namespace);
        }
    }

    private ObjectNode created(
            ResourceKind kind, ObjectKey key, ObjectNode body, WriteOptions options) {
        decode(kind, body, options);
        metadata.initialize(kind, key, body);
        if (kind.has(Trait.STATUS) && !kind.has(Trait.STATUS_ON_CREATE)) {
            body.remove("status");
        }
        ownership.updated(kind, null, body, Part.MAIN, options.fieldManager());
        return checked(kind, key, body, null, Part.MAIN);
    }

    /**
     * Applies what one field manager wants of an object, and makes it when it is not there.
     *
     * @param force take fields from other managers who own them
     */
    public StoredObject apply(
            ResourceKind kind,
            ObjectKey key,
            Part part,
            ObjectNode applied,
            boolean force,
            WriteOptions options) {
        ownership.requireApplicable(applied);
        MetadataRules.requireFits(kind, key.namespace(), applied);
        requireName(key, applied);
        decode(kind, applied, options);
        return commit(
                kind,
                key,
                options.dryRun(),
                current -> {
                    if (current != null) {
                        return applied(current, part, applied, force, options);
                    }
                    if (part == Part.STATUS) {
                        throw ApiFailure.notFound(kind, key.name());
                    }
                    requireNamespace(kind, key.namespace());
                    Preconditions.requireNone(kind, key, applied);
                    ObjectNode made = created(kind, key, applied.deepCopy(), options);
                    ownership.appliedFirst(kind, made, applied, options.fieldManager());
                    return made;
                });
    }

    private @Nullable ObjectNode applied(
            StoredObject current,
            Part part,
            ObjectNode applied,
            boolean force,
            WriteOptions options) {
        ObjectNode body = ownership.merged(current, applied, part, options.fieldManager());
        requireCurrent(current, body);
        ObjectNode next = next(current, part, body);
        ownership.applied(current, next, applied, part, force, options.fieldManager());
        return finished(current, part, next);
    }

    public StoredObject update(
            ResourceKind kind, ObjectKey key, Part part, ObjectNode body, WriteOptions options) {
        MetadataRules.requireFits(kind, key.namespace(), body);
        requireName(key, body);
        return commit(
                kind,
                key,
                options.dryRun(),
                current -> {
                    if (current == null && kind.has(Trait.CREATE_ON_UPDATE) && part == Part.MAIN) {
                        requireNamespace(kind, key.namespace());
                        return created(kind, key, body, options);
                    }
                    return updated(existing(kind, key, current), part, body, options);
                });
    }

    /**
     * Applies a change to the current object: the change sees and returns a whole object of its
     * own.
     */
    public StoredObject patch(
            ResourceKind kind,
            ObjectKey key,
            Part part,
            UnaryOperator<ObjectNode> patch,
            WriteOptions options) {
        return commit(
                kind,
                key,
                options.dryRun(),
                current -> {
                    ObjectNode body = patch.apply(existing(kind, key, current).copy());
                    MetadataRules.requireFits(kind, key.namespace(), body);
                    requireName(key, body);
                    return updated(existing(kind, key, current), part, body, options);
                });
    }

    private static StoredObject existing(
            ResourceKind kind, ObjectKey key, @Nullable StoredObject current) {
        if (current == null) {
            throw ApiFailure.notFound(kind, key.name());
        }
        return current;
    }

    private static void requireName(ObjectKey key, ObjectNode body) {
        String name = Json.text(body, "metadata", "name");
        if (!name.equals(key.name())) {
            throw ApiFailure.badRequest(
                    "the name of the object ("
                            + name
                            + ") does not match the name on the URL ("
                            + key.name()
                            + ")");
        }
    }

    private @Nullable ObjectNode updated(
            StoredObject current, Part part, ObjectNode body, WriteOptions options) {
        requireCurrent(current, body);
        decode(current.kind(), body, options);
        ObjectNode next = next(current, part, body);
        ownership.updated(current.kind(), current.json(), next, part, options.fieldManager());
        return finished(current, part, next);
    }

    private ObjectNode next(StoredObject current, Part part, ObjectNode body) {
        ObjectNode next =
                part == Part.STATUS ? withStatusOf(current, body) : withMainOf(current, body);
        metadata.carryOver(current, next);
        return next;
    }

    private @Nullable ObjectNode finished(StoredObject current, Part part, ObjectNode next) {
        checked(current.kind(), current.key(), next, current.json(), part);
        metadata.countGeneration(current, next);
        boolean released = MetadataRules.isDeleting(next) && !MetadataRules.hasFinalizers(next);
        return released ? null : next;
    }

    /** Decodes as a typed server: nulls and unknown fields are dropped, wrong types are refused. */
    private void decode(ResourceKind kind, ObjectNode body, WriteOptions options) {
        Canonical.dropNulls(body);
        options.unknown(kind, schema.fit(kind, body));
    }

    private static void requireCurrent(StoredObject current, ObjectNode body) {
        new Preconditions(Json.text(body, "metadata", "uid"), "").check(current);
        String sent = Json.text(body, "metadata", "resourceVersion");
        if (sent.isEmpty() && current.kind().has(Trait.CONDITIONAL_UPDATE)) {
            FieldErrors errors = new FieldErrors();
            errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
            throw ApiFailure.invalid(current.kind(), current.key().name(), errors.all());
        }
        if (!sent.isEmpty() && !sent.equals(Long.toString(current.revision()))) {
            throw ApiFailure.conflict(
                    current.kind(),
                    current.key().name(),
                    "the object has been modified; please apply your changes to the latest version and try again");
        }
    }

    private static ObjectNode withStatusOf(StoredObject current, ObjectNode body) {
        ObjectNode next = current.copy();
        Json.carryOver(body, next, "status");
        return next;
    }

    private static ObjectNode withMainOf(StoredObject current, ObjectNode body) {
        if (current.kind().has(Trait.STATUS)) {
            Json.carryOver(current.json(), body, "status");
        }
        return body;
    }

    private ObjectNode checked(
            ResourceKind kind,
            ObjectKey key,
            ObjectNode next,
            @Nullable ObjectNode old,
            Part part) {
        Strategy strategy = strategies.getOrDefault(kind.plural(), Strategy.PLAIN);
        strategy.prepare(next, old, part);
        FieldErrors errors = new FieldErrors();
        MetadataRules.validate(kind, next, errors);
        strategy.validate(next, old, part, errors);
        if (!errors.isEmpty()) {
            throw ApiFailure.invalid(kind, key.name(), errors.all());
        }
        Canonical.dropEmptyLists(next);
        return next;
    }

    /** Deletes, or marks as deleting when finalizers remain, which is seen by its finalizers. */
    public StoredObject delete(
            ResourceKind kind, ObjectKey key, Preconditions preconditions, boolean dryRun) {
        StoredObject deleted =
                commit(
                        kind,
                        key,
                        dryRun,
                        current -> {
                            StoredObject object = existing(kind, key, current);
                            preconditions.check(object);
                            return MetadataRules.hasFinalizers(object.json())
                                    ? metadata.deleting(object)
                                    : null;
                        });
        if (kind.equals(kinds.namespaces()) && !dryRun) {
            emptyNamespace(key.name());
        }
        return deleted;
    }

    private void emptyNamespace(String namespace) {
        for (StoredObject object : store.all()) {
            if (object.key().namespace().equals(namespace)) {
                deleteIfThere(object, Preconditions.NONE, false);
            }
        }
    }

    /** Deletes every selected object; one that goes away meanwhile is not an error. */
    public List<StoredObject> deleteCollection(
            ResourceKind kind, Selection selection, Preconditions preconditions, boolean dryRun) {
        List<StoredObject> deleted = new ArrayList<>();
        for (StoredObject object : store.list(kind, selection).objects()) {
            deleteIfThere(object, preconditions, dryRun);
            deleted.add(object);
        }
        return deleted;
    }

    private void deleteIfThere(StoredObject object, Preconditions preconditions, boolean dryRun) {
        try {
            delete(object.kind(), object.key(), preconditions, dryRun);
        } catch (ApiFailure failure) {
            if (failure.code() != 404) {
                throw failure;
            }
        }
    }

    private StoredObject commit(
            ResourceKind kind, ObjectKey key, boolean dryRun, Mutation mutation) {
        if (!dryRun) {
            return Objects.requireNonNull(store.write(kind, key, mutation));
        }
        StoredObject current = store.find(kind, key);
        JsonNode next = mutation.apply(current);
        return next instanceof ObjectNode object
                ? new StoredObject(kind, key, store.revision(), object)
                : Objects.requireNonNull(current);
    }
}
