// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.apply.FieldOwnership;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.model.ZeroValues;
import io.dra4j.testkit.apiserver.store.ObjectSelection;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.ObjectStore.Mutation;
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
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The verbs of the API on the object store, without HTTP.
 *
 * <p>Thread-safe. It takes ownership of bodies. Every refusal is an {@link ApiFailure}.
 */
public final class Registry {
    private final ResourceKinds kinds;
    private final ObjectStore store;
    private final Schema schema;
    private final MetadataRules metadata;
    private final FieldOwnership ownership;
    private final Map<String, Strategy> strategies;

    /** Strategies go by plural, and group where another group has that plural; other kinds need none. */
    public Registry(ResourceKinds kinds, ObjectStore store, MetadataRules metadata, Map<String, Strategy> strategies) {
        this.kinds = kinds;
        this.store = store;
        this.schema = new Schema(kinds.version());
        this.metadata = metadata;
        this.ownership = new FieldOwnership(metadata);
        this.strategies = Map.copyOf(strategies);
    }

    public StoredObject get(ResourceKind kind, ObjectKey key) {
        return new Target(kind, key, Part.MAIN).existing(store.find(kind, key));
    }

    public StoredObject create(ResourceKind kind, String namespace, ObjectNode body, WriteOptions options) {
        return create(kind, kind, namespace, body, options);
    }

    /** The body has the stored form; the client uses the version of the served kind. */
    public StoredObject create(
            ResourceKind kind, ResourceKind served, String namespace, ObjectNode body, WriteOptions options) {
        MetadataRules.requireFits(kind, namespace, body);
        if (!revision(body).isEmpty()) {
            throw ApiFailure.unexplained("resourceVersion should not be set on objects to be created");
        }
        decode(kind, body, options);
        Target target = new Target(kind, newKey(kind, namespace, body), Part.MAIN, served);
        return commit(target, options.dryRun(), current -> {
            requireNamespace(kind, namespace);
            if (current != null) {
                throw ApiFailure.alreadyExists(kind, target.key().name());
            }
            return created(target, body, options);
        });
    }

    private ObjectKey newKey(ResourceKind kind, String namespace, ObjectNode body) {
        String name = JsonTrees.text(body, "metadata", "name");
        String base = JsonTrees.text(body, "metadata", "generateName");
        if (!name.isEmpty() || base.isEmpty()) {
            return kind.key(namespace, name);
        }
        ObjectKey key = kind.key(namespace, metadata.generatedName(base));
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
        complete(kind, body);
        metadata.initialize(kind, target.key(), body);
        if (kind.has(Trait.STATUS) && !kind.has(Trait.STATUS_ON_CREATE)) {
            body.remove("status");
            complete(kind, body);
        }
        ownership.updated(target.served(), null, body, Part.MAIN, options.fieldManager());
        return checked(target, body, null, new FieldErrors(), options);
    }

    /** Applies the fields of a manager, with force also those of others, and creates what does not exist. */
    public StoredObject apply(Target target, ObjectNode applied, boolean force, WriteOptions options) {
        ownership.requireApplicable(target.kind(), applied);
        String sent = JsonTrees.text(applied, "kind");
        if (!sent.equals(target.kind().kind())) {
            String type = target.kind().apiVersion() + ", Kind=" + sent;
            throw untyped(target, applied, "no corresponding type for " + type);
        }
        target.requireNamedIn(applied);
        decodeApplied(target, applied);
        return changed(target, options.dryRun(), (current, released) -> {
            if (current != null) {
                return applied(current, target, applied, force, options, released);
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
            WriteOptions options,
            Released released) {
        String manager = options.fieldManager();
        ObjectNode body = ownership.merged(current, applied, target.part(), manager);
        complete(target.kind(), body);
        requireCurrent(current, body);
        MetadataChange change = MetadataChange.of(current, body);
        ObjectNode next = next(current, target.part(), body);
        ownership.applied(current, next, applied, target.part(), force, manager);
        return finished(change, target, next, released, options);
    }

    public StoredObject update(Target target, ObjectNode body, WriteOptions options) {
        target.requireNamedIn(body);
        decode(target.kind(), body, options);
        boolean creates = target.kind().has(Trait.CREATE_ON_UPDATE) && target.part() == Part.MAIN;
        return changed(target, options.dryRun(), (current, released) -> {
            if (current == null && creates) {
                requireNamespace(target.kind(), target.key().namespace());
                return created(target, body, options);
            }
            StoredObject existing = target.existing(current);
            Preconditions.requireSame(existing, JsonTrees.text(body, "metadata", "uid"));
            return updated(existing, target, body, options, released);
        });
    }

    /**
     * Applies a change to the current object: the change sees a complete copy and returns a complete object.
     *
     * @param shown describes an object that is no longer of its kind, in messages
     */
    public StoredObject patch(
            Target target, UnaryOperator<ObjectNode> patch, Function<JsonNode, String> shown, WriteOptions options) {
        return changed(target, options.dryRun(), (current, released) -> {
            StoredObject existing = target.existing(current);
            ObjectNode body = patch.apply(existing.copy());
            decodePatched(target, body, shown, options);
            return updated(existing, target, body, options, released);
        });
    }

    private void decodePatched(Target target, ObjectNode body, Function<JsonNode, String> shown, WriteOptions options) {
        ObjectNode patched = body.deepCopy();
        try {
            MetadataRules.requireKind(target.kind(), body);
            decode(target.kind(), body, options);
        } catch (ApiFailure failure) {
            throw failure.ofPatch(shown.apply(patched));
        }
        target.requireNamedIn(body);
    }

    private @Nullable ObjectNode updated(
            StoredObject current, Target target, ObjectNode body, WriteOptions options, Released released) {
        complete(current.kind(), body);
        requireCurrent(current, body);
        MetadataChange change = MetadataChange.of(current, body);
        Part part = target.part();
        ObjectNode next = next(current, part, body);
        ownership.updated(target.served(), current.json(), next, part, options.fieldManager());
        return finished(change, target, next, released, options);
    }

    private ObjectNode next(StoredObject current, Part part, ObjectNode body) {
        ObjectNode next = part == Part.STATUS ? withStatusOf(current, body) : withMainOf(current, body);
        metadata.carryOver(current, next);
        return next;
    }

    private @Nullable ObjectNode finished(
            MetadataChange change, Target target, ObjectNode next, Released released, WriteOptions options) {
        FieldErrors errors = new FieldErrors();
        change.check(next, errors);
        StoredObject current = change.current();
        checked(target, next, current.json(), errors, options);
        metadata.countGeneration(current, next);
        if (MetadataRules.isDeleting(next) && !MetadataRules.hasFinalizers(next)) {
            released.last = next;
            return null;
        }
        return next;
    }

    /** Holds an object that a write deletes because it removes the last finalizer. */
    private static final class Released {
        @Nullable
        ObjectNode last;

        /** The answer to the write: the object without the finalizer if it was deleted, else the stored one. */
        StoredObject orElse(StoredObject stored) {
            if (last == null) {
                return stored;
            }
            String revision = Long.toString(stored.revision());
            JsonTrees.metadata(last).put("resourceVersion", revision);
            return new StoredObject(stored.kind(), stored.key(), stored.revision(), last);
        }
    }

    /** A {@link Mutation} that may release the object. */
    private interface Change {
        @Nullable
        ObjectNode apply(@Nullable StoredObject current, Released released);
    }

    private StoredObject changed(Target target, boolean dryRun, Change change) {
        Released released = new Released();
        return released.orElse(commit(target, dryRun, current -> change.apply(decoded(current), released)));
    }

    /** A stored object as a typed server reads it: without the fields that its release does not have. */
    private @Nullable StoredObject decoded(@Nullable StoredObject stored) {
        if (stored == null) {
            return null;
        }
        ObjectNode known = stored.copy();
        return schema.fit(stored.kind(), known).isEmpty()
                ? stored
                : new StoredObject(stored.kind(), stored.key(), stored.revision(), known);
    }

    /** Decodes as a typed server: nulls and unknown fields are dropped, wrong types are refused. */
    private void decode(ResourceKind kind, ObjectNode body, WriteOptions options) {
        options.unknown(kind, schema.fit(kind, body));
    }

    /** Adds what is never left out. */
    private void complete(ResourceKind kind, ObjectNode body) {
        ZeroValues.fill(kind, body);
        schema.complete(kind, body);
    }

    /** Decodes what is applied: an unknown field has no owner, and is refused like a wrong type. */
    private void decodeApplied(Target target, ObjectNode applied) {
        List<String> unknown;
        try {
            unknown = schema.fit(target.kind(), applied);
        } catch (ApiFailure failure) {
            throw untyped(target, applied, "." + failure.unfitness());
        }
        if (!unknown.isEmpty()) {
            throw untyped(target, applied, undeclared(unknown));
        }
    }

    private static ApiFailure untyped(Target target, JsonNode applied, String why) {
        return ApiFailure.unexplained("failed to create typed patch object (%s/%s; %s, Kind=%s): %s"
                .formatted(
                        target.key().namespace(),
                        target.key().name(),
                        target.kind().apiVersion(),
                        JsonTrees.text(applied, "kind"),
                        why));
    }

    private static String undeclared(List<String> fields) {
        List<String> errors = fields.stream()
                .map(one -> "." + one + ": field not declared in schema")
                .toList();
        return errors.size() == 1 ? errors.get(0) : "errors:\n  " + String.join("\n  ", errors);
    }

    private static void requireCurrent(StoredObject current, ObjectNode body) {
        String sent = revision(body);
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

    /** The resource version that a client sent; empty for 0, which stands for none. */
    private static String revision(ObjectNode body) {
        return JsonTrees.text(body, "metadata", "resourceVersion").replaceFirst("^0+$", "");
    }

    private static ObjectNode withStatusOf(StoredObject current, ObjectNode body) {
        ObjectNode next = current.copy();
        JsonTrees.carryOver(body, next, "status");
        return next;
    }

    private static ObjectNode withMainOf(StoredObject current, ObjectNode body) {
        if (current.kind().has(Trait.STATUS)) {
            JsonTrees.carryOver(current.json(), body, "status");
        }
        return body;
    }

    private ObjectNode checked(
            Target target, ObjectNode next, @Nullable ObjectNode old, FieldErrors errors, WriteOptions options) {
        ResourceKind served = target.served();
        Strategy strategy = strategies.getOrDefault(
                served.qualifiedResource(), strategies.getOrDefault(served.plural(), Strategy.PLAIN));
        strategy.prepare(next, old, target.part());
        if (old == null) {
            MetadataRules.validate(served, next, errors);
        } else {
            MetadataRules.validateUpdate(served, next, errors);
        }
        strategy.validate(next, old, target.part(), errors);
        if (!errors.isEmpty()) {
            throw ApiFailure.invalid(target.kind(), target.key().name(), errors);
        }
        strategy.warnings(next).forEach(options.warn());
        Canonical.dropEmptyLists(next);
        return next;
    }

    /** Deletes, or marks as deleting if finalizers remain: the caller can tell by the finalizers of the result. */
    public StoredObject delete(ResourceKind kind, ObjectKey key, Preconditions preconditions, boolean dryRun) {
        Target target = new Target(kind, key, Part.MAIN);
        StoredObject deleted = commit(target, dryRun, current -> {
            StoredObject object = target.existing(current);
            preconditions.check(object);
            return MetadataRules.hasFinalizers(object.json()) ? metadata.deleting(object) : null;
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
            ResourceKind kind, ObjectSelection selection, Preconditions preconditions, boolean dryRun) {
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

    /** The object, or its status, that a request writes in the version that the client uses. */
    public record Target(ResourceKind kind, ObjectKey key, Part part, ResourceKind served) {
        public Target(ResourceKind kind, ObjectKey key, Part part) {
            this(kind, key, part, kind);
        }

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
            String name = JsonTrees.text(body, "metadata", "name");
            if (name.isEmpty()) {
                throw ApiFailure.badRequest(
                        "the name of the object (%s based on URL) was undeterminable: name must be provided"
                                .formatted(key.name()));
            }
            if (!name.equals(key.name())) {
                throw ApiFailure.badRequest("the name of the object (%s) does not match the name on the URL (%s)"
                        .formatted(name, key.name()));
            }
        }
    }
}
