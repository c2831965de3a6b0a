// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.util.List;
import java.util.Set;

/**
 * The resource or object of a path below {@code /api/v1} or {@code /apis/GROUP/VERSION}.
 *
 * @param kind the kind in the version that is stored
 * @param served the kind in the version that the client uses
 * @param namespace empty for cluster-scoped kinds and for all namespaces
 * @param name empty for a collection
 * @param subresource empty for the object itself
 */
record ResourcePath(ResourceKind kind, ResourceKind served, String namespace, String name, String subresource) {
    private static final Set<String> OF_A_NAMESPACE = Set.of("status", "finalize");

    /** Finds the kind that a path names, by its segments after the version; 404 when there is none. */
    static ResourcePath parse(ResourceKinds kinds, String group, String version, List<String> rest) {
        boolean inNamespace = rest.get(0).equals("namespaces")
                && rest.size() >= 3
                && !(rest.size() == 3 && OF_A_NAMESPACE.contains(rest.get(2)));
        List<String> own = inNamespace ? rest.subList(2, rest.size()) : rest;
        String namespace = inNamespace ? rest.get(1) : "";
        ResourceKind found = kinds.find(group, version, own.get(0)).orElseThrow(ApiFailure::unknownPath);
        ResourceKind kind = kinds.stored(found);
        ResourcePath path = new ResourcePath(
                kind,
                found.version().equals(version) ? found : found.in(version),
                namespace,
                own.size() > 1 ? own.get(1) : "",
                own.size() > 2 ? own.get(2) : "");
        boolean scopeFits = kind.namespaced() ? inNamespace || path.name.isEmpty() : !inNamespace;
        boolean subresourceFits = path.subresource.isEmpty() || path.isStatus() && kind.has(ResourceKind.Trait.STATUS);
        if (!scopeFits || !subresourceFits || own.size() > 3) {
            throw ApiFailure.unknownPath();
        }
        return path;
    }

    boolean isStored() {
        return served.apiVersion().equals(kind.apiVersion());
    }

    boolean isCollection() {
        return name.isEmpty();
    }

    boolean isStatus() {
        return subresource.equals("status");
    }

    ObjectKey key() {
        return kind.key(namespace, name);
    }
}
