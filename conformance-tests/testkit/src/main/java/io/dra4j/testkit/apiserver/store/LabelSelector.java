// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.List;
import java.util.function.Predicate;

/**
 * The {@code labelSelector} of a request: equality and set forms, as {@code kubectl -l} takes them.
 */
public record LabelSelector(List<Predicate<JsonNode>> requirements) {
    public static final LabelSelector ALL = new LabelSelector(List.of());

    public LabelSelector {
        requirements = List.copyOf(requirements);
    }

    /**
     * Reads a selector.
     *
     * @throws ApiFailure 400 when the text is none
     */
    public static LabelSelector parse(String text) {
        return new LabelSelector(LabelSelectorParser.parse(text));
    }

    boolean matches(StoredObject object) {
        JsonNode labels = Json.at(object.json(), "metadata", "labels");
        return requirements.stream().allMatch(requirement -> requirement.test(labels));
    }
}
