// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.StoredObject;

/**
 * The preconditions of a deletion.
 *
 * @param uid empty for any
 * @param resourceVersion empty for any
 */
public record Preconditions(String uid, String resourceVersion) {
    public static final Preconditions NONE = new Preconditions("", "");

    public static Preconditions of(JsonNode deleteOptions) {
        return new Preconditions(
                Json.text(deleteOptions, "preconditions", "uid"),
                Json.text(deleteOptions, "preconditions", "resourceVersion"));
    }

    /** Refuses, with 409 Conflict, to make an object that was to be a certain one. */
    static void requireNone(ResourceKind kind, ObjectKey key, JsonNode object) {
        String uid = Json.text(object, "metadata", "uid");
        if (!uid.isEmpty()) {
            throw ApiFailure.conflict(
                    kind,
                    key.name(),
                    "uid mismatch: the provided object specified uid %s, and no existing object was found"
                            .formatted(uid));
        }
    }

    /** Refuses, with 409 Conflict, an object that is another one or has changed. */
    void check(StoredObject object) {
        if (!uid.isEmpty() && !uid.equals(object.uid())) {
            throw ApiFailure.conflict(
                    object.kind(),
                    object.key().name(),
                    "Precondition failed: UID in precondition: %s, UID in object meta: %s"
                            .formatted(uid, object.uid()));
        }
        String found = Json.text(object.json(), "metadata", "resourceVersion");
        if (!resourceVersion.isEmpty() && !resourceVersion.equals(found)) {
            throw ApiFailure.conflict(
                    object.kind(),
                    object.key().name(),
                    "Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s"
                            .formatted(resourceVersion, found));
        }
    }
}
