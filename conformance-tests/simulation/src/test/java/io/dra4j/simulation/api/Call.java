// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import io.dra4j.testkit.rbac.ApiAction;
import java.net.URI;
import java.util.Map;

/**
 * A request, with what the choice of a fault depends on.
 *
 * @param verb for example {@code list}
 * @param resource the plural, with a slash and the subresource if there is one; empty for a path that does not belong
 *     to a resource
 * @param name the name of the object; empty for a collection
 * @param cached whether it is a list that the server may answer from a stale cache
 */
public record Call(String verb, String resource, String namespace, String name, boolean cached) {

    static Call of(String method, URI target) {
        String query = "&" + target.getRawQuery() + "&";
        boolean watch = query.contains("&watch=true&");
        ApiAction action = ApiAction.of(method, target.getRawPath(), Map.of("watch", Boolean.toString(watch)));
        boolean cached = action.verb().equals("list") && query.contains("&resourceVersion=0&");
        return new Call(action.verb(), action.resource(), action.namespace(), action.name(), cached);
    }

    public boolean isWatch() {
        return verb.equals("watch");
    }

    /** Returns whether it changes an existing object. */
    public boolean isChange() {
        return verb.equals("update") || verb.equals("patch") || verb.equals("delete");
    }

    public boolean isWrite() {
        return isChange() || verb.equals("create");
    }

    @Override
    public String toString() {
        return verb + " " + resource + (name.isEmpty() ? "" : "/" + name);
    }
}
