// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import io.dra4j.testkit.http.PathSegments;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A request as Kubernetes' authorizers see it.
 *
 * @param verb for example {@code list}
 * @param group the API group; empty for the core group
 * @param resource the plural, with a slash and the subresource if there is one; empty for a path that does not belong
 *     to a resource
 * @param namespace empty at the cluster scope
 * @param name the name of the object; empty for a collection
 * @param path as it was sent
 */
public record ApiAction(String verb, String group, String resource, String namespace, String name, String path) {

    private static final Set<String> OF_A_NAMESPACE = Set.of("status", "finalize");
    private static final Pattern NAME_SELECTOR = Pattern.compile("(?:^|,)metadata\\.name==?([^,=]+)(?:,|$)");

    /**
     * Reads a request.
     *
     * @param path as it was sent, without the query
     * @param query the decoded parameters
     */
    public static ApiAction of(String method, String path, Map<String, String> query) {
        List<String> segments = segments(path);
        int prefix = segments.isEmpty() ? 0 : prefix(segments.get(0));
        if (prefix == 0 || segments.size() <= prefix) {
            return new ApiAction(method.toLowerCase(Locale.ROOT), "", "", "", "", path);
        }
        String group = prefix == 2 ? "" : segments.get(1);
        List<String> rest = segments.subList(prefix, segments.size());
        String namespace = "";
        if (rest.get(0).equals("namespaces") && rest.size() > 1) {
            namespace = rest.get(1);
            if (rest.size() > 2 && !OF_A_NAMESPACE.contains(rest.get(2))) {
                rest = rest.subList(2, rest.size());
            }
        }
        String name = rest.size() > 1 ? rest.get(1) : "";
        String resource = rest.get(0) + (rest.size() > 2 ? "/" + rest.get(2) : "");
        String verb = verb(method, name, query);
        String object = name.isEmpty() && !verb.equals("create") ? selected(query) : name;
        return new ApiAction(verb, group, resource, namespace, object, path);
    }

    private static List<String> segments(String path) {
        try {
            return PathSegments.of(path);
        } catch (IllegalArgumentException e) {
            return List.of(); // The API server refuses it.
        }
    }

    /** The number of segments before the resource: api, version or apis, group, version. */
    private static int prefix(String first) {
        return switch (first) {
            case "api" -> 2;
            case "apis" -> 3;
            default -> 0;
        };
    }

    private static String verb(String method, String name, Map<String, String> query) {
        return switch (method) {
            case "POST" -> "create";
            case "PUT" -> "update";
            case "PATCH" -> "patch";
            case "DELETE" -> name.isEmpty() ? "deletecollection" : "delete";
            default -> name.isEmpty() ? (isWatch(query) ? "watch" : "list") : "get";
        };
    }

    /** Any value other than 0 and false is true, as in the real server. */
    public static boolean isWatch(Map<String, String> query) {
        String value = query.getOrDefault("watch", "false");
        return !value.equals("0") && !value.equalsIgnoreCase("false");
    }

    private static String selected(Map<String, String> query) {
        Matcher matcher = NAME_SELECTOR.matcher(query.getOrDefault("fieldSelector", ""));
        return matcher.find() ? matcher.group(1) : "";
    }

    boolean isResource() {
        return !resource.isEmpty();
    }

    /** The resource without its subresource. */
    public String plural() {
        return resource.split("/")[0];
    }

    /** The subresource, or an empty text. */
    String subresource() {
        return resource.substring(Math.min(resource.length(), plural().length() + 1));
    }

    /** The version of the resource's API. */
    String version() {
        return segments(path).get(group.isEmpty() ? 1 : 2);
    }

    /** The resource as messages name it: {@code resourceslices.resource.k8s.io}. */
    String qualified() {
        return group.isEmpty() ? plural() : plural() + "." + group;
    }

    /** The same object with another verb and another resource. */
    ApiAction with(String otherVerb, String otherResource, String otherName) {
        return new ApiAction(otherVerb, group, otherResource, namespace, otherName, path);
    }
}
