// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.apply.Ownership;
import io.dra4j.testkit.apiserver.model.ApiFailure;
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
            MetadataRules metadata,
            Map<String, Strategy> strategies) {
        this.kinds = kinds;
        this.store = store;
        this.schema = new Schema(kinds.version());
        this.metadata = metadata;
        this.ownership = new Ownership(metadata);
        this.strategies = Map.copyOf(strategies);
    }

    public StoredObject get(ResourceKind kind, ObjectKey key) {
        return new Target(kind, key, Part.MAIN).existing(store.find(kind, key));
    }

    public StoredObject create(
            ResourceKind kind, String namespace, ObjectNode body, WriteOptions options) {
        MetadataRules.requireFits(kind, namespace, body);
        if (!Json.text(body, "metadata", "resourceVersion").isEmpty()) {
            throw ApiFailure.badRequest(
                    "resourceVersion should not be set on objects to be created");
        }
        Target target = new Target(kind, newKey(kind, namespace, body), Part.MAIN);
        return commit(
                target,
                options.dryRun(),
                current -> {
                    requireNamespace(kind, namespace);
                    if (current != null) {
                        throw ApiFailure.alreadyExists(kind, target.key().name());
                    }
                    return created(target, body, options);
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
            throw ApiFailure.invalid(kind, "", errors);
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

    private ObjectNode created(Target target, ObjectNode body, WriteOptions options) {
        ResourceKind kind = target.kind();
        decode(kind, body, options);
        schema.complete(kind, body);
        metadata.initialize(kind, target.key(), body);
        if (kind.has(Trait.STATUS) && !kind.has(Trait.STATUS_ON_CREATE)) {
            body.remove("status");
        }
        ownership.updated(kind, null, body, Part.MAIN, options.fieldManager());
        return checked(target, body, null);
    }

    /**
     * Applies what one field manager wants of an object, and makes it when it is not there.
     *
     * @param force take fields from other managers who own them
     */
    public StoredObject apply(
            Target target, ObjectNode applied, boolean force, WriteOptions options) {
        ownership.requireApplicable(applied);
        target.requireNamedIn(applied);
        decode(target.kind(), applied, options);
        return commit(
                target,
                options.dryRun(),
                current -> {
                    if (current != null) {
                        return applied(current, target, applied, force, options);
                    }
                    if (target.part() == Part.STATUS) {
                        throw target.notFound();
                    }
                    requireNamespace(target.kind(), target.key().namespace());
                    Preconditions.requireNone(target.kind(), target.key(), applied);
                    ObjectNode made = created(target, applied.deepCopy(), options);
                    ownership.appliedFirst(target.kind(), made, applied, options.fieldManager());
                    return made;
                });
    }

    private @Nullable ObjectNode applied(
            StoredObject current,
            Target target,
            ObjectNode applied,
            boolean force,
            WriteOptions options) {
        String manager = options.fieldManager();
        ObjectNode body = ownership.merged(current, applied, target.part(), manager);
        requireCurrent(current, body);
        schema.complete(target.kind(), body);
        ObjectNode next = next(current, target.part(), body);
        ownership.applied(current, next, applied, target.part(), force, manager);
        return finished(current, target, next);
    }

    public StoredObject update(Target target, ObjectNode body, WriteOptions options) {
        target.requireNamedIn(body);
        boolean creates = target.kind().has(Trait.CREATE_ON_UPDATE) && target.part() == Part.MAIN;
        return commit(
                target,
                options.dryRun(),
                current -> {
                    if (current == null && creates) {
                        requireNamespace(target.kind(), target.key().namespace());
                        return created(target, body, options);
                    }
                    return updated(target.existing(current), target, body, options);
                });
    }

    /**
     * Applies a change to the current object: the change sees and returns a whole object of its
     * own.
     */
    public StoredObject patch(
            Target target, UnaryOperator<ObjectNode> patch, WriteOptions options) {
        return commit(
                target,
                options.dryRun(),
                current -> {
                    StoredObject existing = target.existing(current);
                    ObjectNode body = patch.apply(existing.copy());
                    target.requireNamedIn(body);
                    return updated(existing, target, body, options);
                });
    }

    private @Nullable ObjectNode updated(
            StoredObject current, Target target, ObjectNode body, WriteOptions options) {
        requireCurrent(current, body);
        decode(current.kind(), body, options);
        schema.complete(current.kind(), body);
        Part part = target.part();
        ObjectNode next = next(current, part, body);
        ownership.updated(current.kind(), current.json(), next, part, options.fieldManager());
        return finished(current, target, next);
    }

    private ObjectNode next(StoredObject current, Part part, ObjectNode body) {
        ObjectNode next =
                part == Part.STATUS ? withStatusOf(current, body) : withMainOf(current, body);
        metadata.carryOver(current, next);
        return next;
    }

    private @Nullable ObjectNode finished(StoredObject current, Target target, ObjectNode next) {
        checked(target, next, current.json());
        metadata.countGeneration(current, next);
        boolean released = MetadataRules.isDeleting(next) && !MetadataRules.hasFinalizers(next);
        return released ? null : next;
    }

    /** Decodes as a typed server: nulls and unknown fields are dropped, wrong types are refused. */
    private void decode(ResourceKind kind, ObjectNode body, WriteOptions options) {
        options.unknown(kind, schema.fit(kind, body));
    }

    private static void requireCurrent(StoredObject current, ObjectNode body) {
        new Preconditions(Json.text(body, "metadata", "uid"), "").check(current);
        String sent = Json.text(body, "metadata", "resourceVersion");
        if (sent.isEmpty() && current.kind().has(Trait.CONDITIONAL_UPDATE)) {
            FieldErrors errors = new FieldErrors();
            errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
            throw ApiFailure.invalid(current.kind(), current.key().name(), errors);
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

    private ObjectNode checked(Target target, ObjectNode next, @Nullable ObjectNode old) {
        Strategy strategy = strategies.getOrDefault(target.kind().plural(), Strategy.PLAIN);
        strategy.prepare(next, old, target.part());
        FieldErrors errors = new FieldErrors();
        MetadataRules.validate(target.kind(), next, errors);
        strategy.validate(next, old, target.part(), errors);
        if (!errors.isEmpty()) {
            throw ApiFailure.invalid(target.kind(), target.key().name(), errors);
        }
        Canonical.dropEmptyLists(next);
        return next;
    }

    /** Deletes, or marks as deleting when finalizers remain, which is seen by its finalizers. */
    public StoredObject delete(
            ResourceKind kind, ObjectKey key, Preconditions preconditions, boolean dryRun) {
        Target target = new Target(kind, key, Part.MAIN);
        StoredObject deleted =
                commit(
                        target,
                        dryRun,
                        current -> {
                            StoredObject object = target.existing(current);
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

    private StoredObject commit(Target target, boolean dryRun, Mutation mutation) {
        if (!dryRun) {
            return Objects.requireNonNull(store.write(target.kind(), target.key(), mutation));
        }
        StoredObject current = store.find(target.kind(), target.key());
        JsonNode next = mutation.apply(current);
        return next instanceof ObjectNode object
                ? new StoredObject(target.kind(), target.key(), store.revision(), object)
                : Objects.requireNonNull(current);
    }

    /** The object, or its status, that a request writes. */
    public record Target(ResourceKind kind, ObjectKey key, Part part) {

        StoredObject existing(@Nullable StoredObject current) {
            if (current == null) {
                throw notFound();
            }
            return current;
        }

        ApiFailure notFound() {
            return ApiFailure.notFound(kind, key.name());
        }

        /** Refuses a body of another kind, of another namespace or with another name. */
        void requireNamedIn(ObjectNode body) {
            MetadataRules.requireFits(kind, key.namespace(), body);
            String name = Json.text(body, "metadata", "name");
            if (!name.equals(key.name())) {
                throw ApiFailure.badRequest(
                        "the name of the object (%s) does not match the name on the URL (%s)"
                                .formatted(name, key.name()));
            }
        }
    }
}
