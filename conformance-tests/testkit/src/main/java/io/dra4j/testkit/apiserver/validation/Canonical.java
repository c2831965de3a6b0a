// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Brings a tree into the form in which the real server, with its typed objects, would return it. */
public final class Canonical {
    /** Raw JSON of third parties, which the server does not change. */
    private static final Set<String> RAW = Set.of("parameters", "data");

    private Canonical() {}

    /** A null is the same as nothing. */
    public static void dropNulls(JsonNode node) {
        prune(node, JsonNode::isNull);
    }

    /** An empty list is not written out. Called after validation, which may distinguish it from no list. */
    public static void dropEmptyLists(JsonNode node) {
        prune(node, value -> value.isArray() && value.isEmpty());
    }

    private static void prune(JsonNode node, Predicate<JsonNode> unwanted) {
        if (node instanceof ObjectNode object) {
            List<String> names = JsonTrees.names(object);
            names.removeAll(RAW);
            for (String name : names) {
                if (unwanted.test(object.get(name))) {
                    object.remove(name);
                } else {
                    prune(object.get(name), unwanted);
                }
            }
        } else {
            node.forEach(child -> prune(child, unwanted));
        }
    }
}
