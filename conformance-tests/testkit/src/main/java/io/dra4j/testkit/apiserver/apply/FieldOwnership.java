// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.apply.ManagedFields.Manager;
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
import org.jspecify.annotations.Nullable;

/** Keeps track of field managers as objects are written, and merges what one of them applies. */
public final class FieldOwnership {
    private static final String STATUS_STEP = "f:status";
    private static final String BEFORE_FIRST_APPLY = "before-first-apply";

    private final MetadataRules metadata;

    public FieldOwnership(MetadataRules metadata) {
        this.metadata = metadata;
    }

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

    /**
     * Notes the manager that changed the old object by anything but an apply.
     *
     * @param kind the kind, in the version that the writer uses
     */
    public void updated(ResourceKind kind, @Nullable ObjectNode old, ObjectNode next, Part part, String manager) {
        if (kind.has(Trait.APPLY) && (old == null || ManagedFields.isKept(old))) {
            ObjectNode before = Conversion.toServed(kind, old == null ? ZeroValues.of(kind) : old);
            ObjectNode after = Conversion.toServed(kind, next);
            Manager writer = Manager.updating(manager, kind, subresource(part));
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
        Manager writers = Manager.updating(BEFORE_FIRST_APPLY, current.kind(), "");
        Difference all = MergeRules.difference(ZeroValues.of(current.kind()), current.json());
        return owners.updated(writers, all, metadata.now());
    }

    private static Manager applier(Part part, String manager) {
        return Manager.applying(manager, subresource(part));
    }

    private static String subresource(Part part) {
        return part == Part.STATUS ? "status" : "";
    }

    /** A request can own only what it can write: the status, or everything except the status. */
    private static FieldSet owned(JsonNode applied, Part part) {
        boolean ofStatus = part == Part.STATUS;
        return ManagedFields.ownable(applied).where(path -> path.get(0).equals(STATUS_STEP) == ofStatus);
    }
}
