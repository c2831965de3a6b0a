// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.http.PathSegments;
import java.util.List;

/**
 * The resource and the object that a path of the API names; both empty where it names none.
 *
 * @param resource the plural
 * @param name the object's name
 */
record ApiPath(String resource, String name) {
    private static final ApiPath NONE = new ApiPath("", "");

    static ApiPath of(String path) {
        List<String> parts = segments(path);
        return switch (parts.isEmpty() ? "" : parts.get(0)) {
            case "api" -> below(parts, 2); // api, version
            case "apis" -> below(parts, 3); // apis, group, version
            default -> NONE;
        };
    }

    /** None where the path cannot be decoded, which the API server refuses. */
    private static List<String> segments(String path) {
        try {
            return PathSegments.of(path);
        } catch (IllegalArgumentException e) {
            return List.of();
        }
    }

    private static ApiPath below(List<String> parts, int prefix) {
        List<String> rest = parts.subList(Math.min(prefix, parts.size()), parts.size());
        if (rest.size() > 2 && rest.get(0).equals("namespaces")) {
            rest = rest.subList(2, rest.size());
        }
        return rest.isEmpty() ? NONE : new ApiPath(rest.get(0), rest.size() > 1 ? rest.get(1) : "");
    }
}
