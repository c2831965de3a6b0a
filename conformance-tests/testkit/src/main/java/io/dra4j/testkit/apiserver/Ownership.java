// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.ManagedFields.Manager;
import io.dra4j.testkit.apiserver.MergeRules.Difference;
import io.dra4j.testkit.apiserver.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.Strategy.Part;
import org.jspecify.annotations.Nullable;

/** Keeps track of field managers as objects are written, and merges what one of them applies. */
final class Ownership {
    private static final String STATUS_STEP = "f:status";

    private final MetadataRules metadata;

    Ownership(MetadataRules metadata) {
        this.metadata = metadata;
    }

    /** Refuses, with 400, an applied object that claims to know the owners. */
    void requireApplicable(JsonNode applied) {
        if (Json.text(applied, "apiVersion").isEmpty() || Json.text(applied, "kind").isEmpty()) {
            throw ApiFailure.badRequest("invalid object type: apiVersion and kind must be set");
        }
        if (!Json.at(applied, "metadata", "managedFields").isEmpty()) {
            throw ApiFailure.badRequest("metadata.managedFields must be nil");
        }
    }

    /** Notes who wrote what differs from the old object, by other means than an apply. */
    void updated(
            ResourceKind kind,
            @Nullable ObjectNode old,
            ObjectNode next,
            Part part,
            WriteOptions options) {
        if (kind.has(Trait.APPLY)) {
            JsonNode before = old == null ? Json.object() : old;
            Manager writer = Manager.updating(options.fieldManager(), kind, subresource(part));
            ManagedFields.of(before)
                    .updated(writer, MergeRules.difference(before, next), metadata.now())
                    .writeTo(next, kind);
        }
    }

    /** Returns a whole object: the current one as the applier wants it. */
    ObjectNode merged(StoredObject current, ObjectNode applied, Part part, WriteOptions options) {
        ManagedFields before = ManagedFields.of(current.json());
        ObjectNode body = (ObjectNode) MergeRules.merge(current.copy(), applied, MergeRules.ROOT);
        MergeRules.remove(body, before.givenUp(applier(part, options), owned(applied, part)));
        return body;
    }

    /** Notes who owns what after an apply. */
    void applied(
            StoredObject current,
            ObjectNode next,
            ObjectNode applied,
            Part part,
            boolean force,
            WriteOptions options) {
        Difference difference = MergeRules.difference(current.json(), next);
        ManagedFields.of(current.json())
                .applied(
                        applier(part, options),
                        owned(applied, part),
                        difference,
                        force,
                        current.kind(),
                        metadata.now())
                .writeTo(next, current.kind());
    }

    /** Notes the owner of an object that was made by an apply. */
    void appliedFirst(
            ResourceKind kind, ObjectNode made, ObjectNode applied, WriteOptions options) {
        ManagedFields.of(Json.object())
                .applied(
                        applier(Part.MAIN, options),
                        owned(applied, Part.MAIN),
                        new Difference(FieldSet.EMPTY, FieldSet.EMPTY),
                        true,
                        kind,
                        metadata.now())
                .writeTo(made, kind);
    }

    private static Manager applier(Part part, WriteOptions options) {
        return Manager.applying(options.fieldManager(), subresource(part));
    }

    private static String subresource(Part part) {
        return part == Part.STATUS ? "status" : "";
    }

    /** A request can own only what it can write: the status, or all but the status. */
    private static FieldSet owned(JsonNode applied, Part part) {
        boolean ofStatus = part == Part.STATUS;
        return ManagedFields.ownable(applied)
                .where(path -> path.get(0).equals(STATUS_STEP) == ofStatus);
    }
}
