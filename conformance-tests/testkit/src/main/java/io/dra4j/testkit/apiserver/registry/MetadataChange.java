// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The change that an update makes to the metadata of an object, by what was sent. */
record MetadataChange(StoredObject current, JsonNode sent) {
    /** Fields of an object that is being deleted: only the server sets them. */
    private static final List<String> OF_DELETION = List.of("deletionTimestamp", "deletionGracePeriodSeconds");

    static MetadataChange of(StoredObject current, JsonNode body) {
        return new MetadataChange(current, body.path("metadata").deepCopy());
    }

    /** Collects its errors, each twice, because the real server checks it for all kinds, and again for its kind. */
    void check(ObjectNode next, FieldErrors errors) {
        checkOnce(next, errors);
        checkOnce(next, errors);
    }

    private void checkOnce(ObjectNode next, FieldErrors errors) {
        List<String> added = addedFinalizers(next);
        if (MetadataRules.isDeleting(current.json()) && !added.isEmpty()) {
            errors.forbidden(
                    "metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, found new finalizers "
                            + added.stream().map(QuotedText::of).collect(Collectors.joining(", ", "[]string{", "}")));
        }
        String uid = JsonTrees.text(sent, "uid");
        if (!uid.isEmpty() && !uid.equals(current.uid())) {
            errors.invalid("metadata.uid", uid, "field is immutable");
        }
        for (String field : OF_DELETION) {
            if (sent.hasNonNull(field) && !MetadataRules.isDeleting(current.json())) {
                errors.invalid("metadata." + field, sent.path(field), "field is immutable");
            }
        }
    }

    private List<String> addedFinalizers(ObjectNode next) {
        TreeSet<String> added = new TreeSet<>();
        JsonTrees.at(next, "metadata", "finalizers").forEach(one -> added.add(one.asText()));
        JsonTrees.at(current.json(), "metadata", "finalizers").forEach(one -> added.remove(one.asText()));
        return List.copyOf(added);
    }
}
