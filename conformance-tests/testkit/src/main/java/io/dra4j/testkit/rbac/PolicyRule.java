// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.StreamSupport;

/** One rule of a Role or a ClusterRole. */
record PolicyRule(
        List<String> verbs,
        List<String> groups,
        List<String> resources,
        List<String> names,
        List<String> paths) {

    private static final String ALL = "*";

    static PolicyRule of(JsonNode rule) {
        return new PolicyRule(
                texts(rule.path("verbs")),
                texts(rule.path("apiGroups")),
                texts(rule.path("resources")),
                texts(rule.path("resourceNames")),
                texts(rule.path("nonResourceURLs")));
    }

    private static List<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText).toList();
    }

    boolean allows(ApiAction action) {
        return has(verbs, action.verb())
                && (action.isResource() ? allowsResource(action) : allowsPath(action.path()));
    }

    private boolean allowsResource(ApiAction action) {
        String subresource = action.resource().substring(action.plural().length());
        boolean everyOne = !subresource.isEmpty() && resources.contains(ALL + subresource);
        return has(groups, action.group())
                && (everyOne || has(resources, action.resource()))
                && (names.isEmpty() || names.contains(action.name()));
    }

    private boolean allowsPath(String path) {
        return paths.stream()
                .anyMatch(
                        one ->
                                one.equals(path)
                                        || one.endsWith(ALL)
                                                && path.startsWith(
                                                        one.substring(0, one.length() - 1)));
    }

    private static boolean has(List<String> values, String wanted) {
        return values.contains(ALL) || values.contains(wanted);
    }
}
