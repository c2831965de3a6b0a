// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;

/**
 * One row of the table of served resources.
 *
 * @param group API group, empty for the core group
 * @param version the one that objects are stored in
 * @param versions all that are served, the stored one first; objects have the same shape in each
 * @param fieldLabels what a field selector may name; each label is also the JSON path of its value
 * @param traits how the real server treats this kind where kinds differ
 */
public record ResourceKind(
        String group,
        String version,
        List<String> versions,
        String kind,
        String plural,
        boolean namespaced,
        List<String> shortNames,
        Set<String> fieldLabels,
        Set<Trait> traits) {

    /** A difference between kinds in the real server. */
    public enum Trait {
        /** Has a {@code /status} subresource. */
        STATUS,
        /** Create keeps the status that the client sent. */
        STATUS_ON_CREATE,
        /** Counts spec changes in metadata.generation. */
        GENERATION,
        /** PUT creates an object that does not exist. */
        CREATE_ON_UPDATE,
        /** PUT must carry a resourceVersion. */
        CONDITIONAL_UPDATE,
        /** Takes server-side apply; who owns which field is tracked. */
        APPLY,
        /** DELETE returns the deleted object, not a Status. */
        RETURNS_DELETED
    }

    public ResourceKind {
        versions = List.copyOf(versions);
        shortNames = List.copyOf(shortNames);
        fieldLabels = Set.copyOf(fieldLabels);
        traits = Set.copyOf(traits);
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** The same kind in another version. */
    public ResourceKind in(String other) {
        return new ResourceKind(group, other, versions, kind, plural, namespaced, shortNames, fieldLabels, traits);
    }

    public String singular() {
        return kind.toLowerCase(java.util.Locale.ROOT);
    }

    public String apiVersion() {
        return group.isEmpty() ? version : group + "/" + version;
    }

    public String listKind() {
        return kind + "List";
    }

    /** {@code resourceslices.resource.k8s.io}, as error messages name a resource. */
    public String qualifiedResource() {
        return group.isEmpty() ? plural : plural + "." + group;
    }

    /** {@code ResourceSlice.resource.k8s.io}, as validation messages name a kind. */
    String qualifiedKind() {
        return group.isEmpty() ? kind : kind + "." + group;
    }

    public ObjectKey key(String namespace, String name) {
        return new ObjectKey(namespaced ? namespace : "", name);
    }

    /** The place of an object in the real store, as messages name it. */
    public String path(ObjectKey key) {
        String folder = plural.equals("nodes") ? "minions" : plural;
        String namespace = namespaced ? key.namespace() + "/" : "";
        return "/registry/" + folder + "/" + namespace + key.name();
    }

    public ObjectNode groupVersionKind() {
        return JsonTrees.object().put("group", group).put("version", version).put("kind", kind);
    }
}
