// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * Finds and removes fields by paths such as {@code spec.devices.*.taints}; a star is every element
 * or value.
 */
final class FieldPaths {
    private FieldPaths() {}

    public static boolean used(JsonNode node, String path) {
        return walk(node, steps(path), (parent, field) -> parent.has(field));
    }

    static void remove(JsonNode node, String path) {
        walk(
                node,
                steps(path),
                (parent, field) -> {
                    parent.remove(field);
                    return false;
                });
    }

    private static List<String> steps(String path) {
        return Arrays.asList(path.split("\\."));
    }

    /** Visits every parent of the last step until a visit answers true. */
    private static boolean walk(
            JsonNode node, List<String> steps, BiPredicate<ObjectNode, String> visit) {
        if (steps.size() == 1) {
            return node instanceof ObjectNode parent && visit.test(parent, steps.get(0));
        }
        List<String> rest = steps.subList(1, steps.size());
        if (!steps.get(0).equals("*")) {
            return walk(node.path(steps.get(0)), rest, visit);
        }
        for (JsonNode child : node) {
            if (walk(child, rest, visit)) {
                return true;
            }
        }
        return false;
    }
}
