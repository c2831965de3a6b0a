// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.apply.MergeRules.Difference;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ZeroValues;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keeps track of field managers as objects are written, and merges what one of them applies. */
public record FieldOwnership(MetadataRules metadata) {
    private static final String STATUS_STEP = "f:status";
    private static final String BEFORE_FIRST_APPLY = "before-first-apply";

    /** Refuses, with 400, an applied object that claims to know the owners. */
    public void requireApplicable(ResourceKind kind, JsonNode applied) {
        String version = JsonTrees.text(applied, "apiVersion");
        String sent = JsonTrees.text(applied, "kind");
        if (version.isEmpty() || sent.isEmpty()) {
            throw ApiFailure.badRequest("invalid object type: apiVersion and kind must be set");
        }
        if (!JsonTrees.at(applied, "metadata", "managedFields").isEmpty()) {
            throw ApiFailure.badRequest("metadata.managedFields must be nil");
        }
        if (!version.equals(kind.apiVersion())) {
            throw ApiFailure.badRequest(
                    "Incorrect version specified in apply patch. Specified patch version: %s, expected: %s"
                            .formatted(version, kind.apiVersion()));
        }
    }

    /** Notes the manager that changed the old object by anything but an apply, in the version that it uses. */
    public void updated(ResourceKind kind, @Nullable ObjectNode old, ObjectNode next, Part part, String manager) {
        if (kind.has(Trait.APPLY) && (old == null || ManagedFields.isKept(old))) {
            ObjectNode before = Conversion.toServed(kind, old == null ? ZeroValues.of(kind) : old);
            ObjectNode after = Conversion.toServed(kind, next);
            ManagedFields.Manager writer = ManagedFields.Manager.updating(manager, kind, subresource(part));
            ManagedFields.of(before)
                    .updated(writer, MergeRules.difference(before, after), metadata.now())
                    .writeTo(next, kind);
        }
    }

    /** Returns a whole object: the current one as the applier wants it. */
    public ObjectNode merged(StoredObject current, ObjectNode applied, Part part, String manager) {
        ManagedFields before = ownersOf(current);
        ObjectNode body = (ObjectNode) MergeRules.merge(current.copy(), applied, MergeRules.ROOT);
        MergeRules.remove(body, before.givenUp(applier(part, manager), owned(applied, part)));
        return body;
    }

    /** Notes who owns what after an apply. */
    public void applied(
            StoredObject current, ObjectNode next, ObjectNode applied, Part part, boolean force, String manager) {
        Difference difference = MergeRules.difference(current.json(), next);
        ownersOf(current)
                .applied(applier(part, manager), owned(applied, part), difference, force, metadata.now())
                .writeTo(next, current.kind());
    }

    /** Notes the owner of an object that was made by an apply. */
    public void appliedFirst(ResourceKind kind, ObjectNode made, ObjectNode applied, String manager) {
        ManagedFields.of(JsonTrees.object())
                .applied(
                        applier(Part.MAIN, manager),
                        owned(applied, Part.MAIN),
                        new Difference(FieldSet.EMPTY, FieldSet.EMPTY),
                        true,
                        metadata.now())
                .writeTo(made, kind);
    }

    /** The owners of an object; everything written before the first apply has a separate owner. */
    private ManagedFields ownersOf(StoredObject current) {
        ManagedFields owners = ManagedFields.of(current.json());
        if (ManagedFields.isKept(current.json())) {
            return owners;
        }
        ManagedFields.Manager writers = ManagedFields.Manager.updating(BEFORE_FIRST_APPLY, current.kind(), "");
        Difference all = MergeRules.difference(ZeroValues.of(current.kind()), current.json());
        return owners.updated(writers, all, metadata.now());
    }

    private static ManagedFields.Manager applier(Part part, String manager) {
        return ManagedFields.Manager.applying(manager, subresource(part));
    }

    private static String subresource(Part part) {
        return part == Part.STATUS ? "status" : "";
    }

    /** A request can own only what it can write: the status, or everything except the status. */
    private static FieldSet owned(JsonNode applied, Part part) {
        boolean ofStatus = part == Part.STATUS;
        return ManagedFields.ownable(applied).where(path -> path.get(0).equals(STATUS_STEP) == ofStatus);
    }

    /**
     * The owners of the fields of an object: {@code metadata.managedFields}.
     *
     * <p>Immutable. Fields that the server owns (names, versions, times of the metadata) have no other owner.
     *
     * @see <a href="https://kubernetes.io/docs/reference/using-api/server-side-apply/">Server-Side Apply</a>
     */
    private record ManagedFields(Map<Manager, Share> shares) {
        private static final String FIELD = "managedFields";
        private static final Set<String> UNOWNED = Set.of("f:apiVersion", "f:kind");
        private static final Set<String> SERVERS_METADATA =
                Set.of(("f:name f:namespace f:selfLink f:uid f:resourceVersion f:generation"
                                + " f:creationTimestamp f:deletionTimestamp f:deletionGracePeriodSeconds f:managedFields")
                        .split(" "));

        private static final Comparator<ObjectNode> ORDER =
                List.of("operation", "time", "manager", "apiVersion", "subresource").stream()
                        .map(field -> Comparator.<ObjectNode, String>comparing(one -> JsonTrees.text(one, field)))
                        .reduce(Comparator::thenComparing)
                        .orElseThrow();

        /**
         * A writer, with the way in which it writes.
         *
         * @param apiVersion empty for an applier, which has one share for all versions
         * @param subresource empty for the object itself
         */
        record Manager(String name, String operation, String apiVersion, String subresource) {
            static Manager applying(String name, String subresource) {
                return new Manager(name, "Apply", "", subresource);
            }

            static Manager updating(String name, ResourceKind kind, String subresource) {
                return new Manager(name, "Update", kind.apiVersion(), subresource);
            }

            String writtenVersion(ResourceKind kind) {
                return apiVersion.isEmpty() ? kind.apiVersion() : apiVersion;
            }
        }

        private record Share(FieldSet fields, String time) {}

        static ManagedFields of(JsonNode object) {
            Map<Manager, Share> shares = new LinkedHashMap<>();
            for (JsonNode entry : JsonTrees.at(object, "metadata", FIELD)) {
                String operation = JsonTrees.text(entry, "operation");
                Manager manager = new Manager(
                        JsonTrees.text(entry, "manager"),
                        operation,
                        operation.equals("Apply") ? "" : JsonTrees.text(entry, "apiVersion"),
                        JsonTrees.text(entry, "subresource"));
                FieldSet fields = FieldSet.decode(entry.path("fieldsV1"));
                shares.put(manager, new Share(fields, JsonTrees.text(entry, "time")));
            }
            return new ManagedFields(shares);
        }

        /** Returns whether an object has owners; one that had none when it was created gets none. */
        static boolean isKept(JsonNode object) {
            return !JsonTrees.at(object, "metadata", FIELD).isEmpty();
        }

        /** The fields of an object that can have an owner. */
        static FieldSet ownable(JsonNode object) {
            return FieldSet.of(MergeRules.fields(object).keySet()).where(ManagedFields::isOwnable);
        }

        private static boolean isOwnable(List<String> path) {
            String first = path.get(0);
            boolean servers =
                    first.equals("f:metadata") && (path.size() == 1 || SERVERS_METADATA.contains(path.get(1)));
            return !servers && !UNOWNED.contains(first);
        }

        /** The fields that an applier no longer applies, and that have no other owner. */
        FieldSet givenUp(Manager applier, FieldSet applied) {
            Share before = shares.get(applier);
            if (before == null) {
                return FieldSet.EMPTY;
            }
            FieldSet wanted = applied;
            for (Map.Entry<Manager, Share> other : shares.entrySet()) {
                if (!other.getKey().equals(applier)) {
                    wanted = wanted.plus(other.getValue().fields);
                }
            }
            return before.fields.minus(wanted);
        }

        /** The shares after an apply; 409 if it changes what others own, unless it takes their fields by force. */
        ManagedFields applied(
                Manager applier, FieldSet applied, MergeRules.Difference difference, boolean force, String now) {
            if (!force) {
                requireNoConflict(applier, difference.changed());
            }
            return withOthersLess(applier, difference).with(applier, applied, now);
        }

        private void requireNoConflict(Manager applier, FieldSet changed) {
            List<ApiFailure.Conflict> conflicts = new ArrayList<>();
            shares.forEach((manager, share) -> {
                String owner = describe(manager, share);
                FieldSet taken = manager.equals(applier) ? FieldSet.EMPTY : share.fields;
                for (String field : taken.and(changed).texts()) {
                    conflicts.add(new ApiFailure.Conflict(owner, field));
                }
            });
            if (!conflicts.isEmpty()) {
                throw ApiFailure.applyConflicts(conflicts);
            }
        }

        private static String describe(Manager manager, Share share) {
            String subresource = manager.subresource;
            String part = subresource.isEmpty() ? "" : " with subresource \"" + subresource + "\"";
            String version =
                    manager.apiVersion.isEmpty() ? "" : " using %s at %s".formatted(manager.apiVersion, share.time);
            return "\"%s\"%s%s".formatted(manager.name, part, version);
        }

        /** Returns the shares after a create, an update, or another kind of patch: it takes by force. */
        ManagedFields updated(Manager writer, MergeRules.Difference difference, String now) {
            Share before = shares.get(writer);
            FieldSet owned = before == null ? FieldSet.EMPTY : before.fields;
            FieldSet changed = difference.changed().where(ManagedFields::isOwnable);
            return withOthersLess(writer, difference)
                    .with(writer, owned.minus(difference.removed()).plus(changed), now);
        }

        private ManagedFields withOthersLess(Manager writer, MergeRules.Difference difference) {
            FieldSet lost = difference.changed().plus(difference.removed());
            Map<Manager, Share> left = new LinkedHashMap<>();
            shares.forEach((manager, share) -> {
                FieldSet kept = manager.equals(writer) ? share.fields : share.fields.minus(lost);
                left.put(manager, new Share(kept, share.time));
            });
            return new ManagedFields(left);
        }

        private ManagedFields with(Manager writer, FieldSet fields, String now) {
            Share before = shares.get(writer);
            boolean same = before != null && before.fields.equals(fields);
            Map<Manager, Share> all = new LinkedHashMap<>(shares);
            all.put(writer, new Share(fields, same ? before.time : now));
            return new ManagedFields(all);
        }

        /** Writes the shares into an object; managers without fields are left out. */
        void writeTo(ObjectNode object, ResourceKind kind) {
            List<ObjectNode> entries = new ArrayList<>();
            shares.forEach((manager, share) -> {
                if (!share.fields.isEmpty()) {
                    entries.add(entry(manager, share, kind));
                }
            });
            entries.sort(ORDER);
            ObjectNode metadata = JsonTrees.metadata(object);
            if (entries.isEmpty()) {
                metadata.remove(FIELD);
            } else {
                metadata.putArray(FIELD).addAll(entries);
            }
        }

        private static ObjectNode entry(Manager manager, Share share, ResourceKind kind) {
            ObjectNode entry = JsonTrees.object()
                    .put("manager", manager.name)
                    .put("operation", manager.operation)
                    .put("apiVersion", manager.writtenVersion(kind))
                    .put("time", share.time)
                    .put("fieldsType", "FieldsV1");
            entry.set("fieldsV1", share.fields.encode());
            if (!manager.subresource.isEmpty()) {
                entry.put("subresource", manager.subresource);
            }
            return entry;
        }
    }
}
