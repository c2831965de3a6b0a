// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.StoredObject;

/** The preconditions of a deletion; an empty one holds for any object. */
public record Preconditions(String uid, String resourceVersion) {
    public static final Preconditions NONE = new Preconditions("", "");

    public static Preconditions of(JsonNode deleteOptions) {
        return new Preconditions(
                JsonTrees.text(deleteOptions, "preconditions", "uid"),
                JsonTrees.text(deleteOptions, "preconditions", "resourceVersion"));
    }

    /** Refuses, with 409 Conflict, to create an object if a certain one was expected. */
    static void requireNone(ResourceKind kind, ObjectKey key, JsonNode object) {
        String uid = JsonTrees.text(object, "metadata", "uid");
        if (!uid.isEmpty()) {
            throw ApiFailure.conflict(
                    kind,
                    key.name(),
                    "uid mismatch: the provided object specified uid %s, and no existing object was found"
                            .formatted(uid));
        }
    }

    /** Refuses, with 409 Conflict, an object that is not the expected one or has changed. */
    void check(StoredObject object) {
        require(object, "UID", uid, object.uid(), "deleted and then recreated");
        String found = JsonTrees.text(object.json(), "metadata", "resourceVersion");
        require(object, "ResourceVersion", resourceVersion, found, "modified");
    }

    private static void require(StoredObject object, String what, String wanted, String found, String since) {
        if (!wanted.isEmpty() && !wanted.equals(found)) {
            throw ApiFailure.notMeant(
                    object.kind(),
                    object.key().name(),
                    "the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s"
                            .formatted(what, wanted, what, found, since));
        }
    }

    /** Refuses, with 409 Conflict, to replace an object that is not the expected one. */
    static void requireSame(StoredObject object, String uid) {
        if (!uid.isEmpty() && !uid.equals(object.uid())) {
            throw ApiFailure.conflict(
                    object.kind(),
                    object.key().name(),
                    "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s"
                            .formatted(object.kind().path(object.key()), uid, object.uid()));
        }
    }
}
