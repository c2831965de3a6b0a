// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** Serves the discovery documents: one aggregated document, or the older documents per group and version. */
record Discovery(ResourceKinds kinds) {
    private static final String AGGREGATED_KIND = "APIGroupDiscoveryList";
    private static final String AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=" + AGGREGATED_KIND;
    private static final List<String> VERBS =
            List.of("create delete deletecollection get list patch update watch".split(" "));
    private static final List<String> STATUS_VERBS = List.of("get", "patch", "update");

    /** Serves {@code /api}. */
    void core(Exchange exchange) {
        if (wantsAggregated(exchange)) {
            exchange.respond(200, AGGREGATED_TYPE, JsonTrees.bytes(aggregated(List.of(""))));
            return;
        }
        ObjectNode versions = JsonTrees.object().put("kind", "APIVersions");
        versions.putArray("versions").add("v1");
        versions.putArray("serverAddressByClientCIDRs");
        exchange.respond(200, versions);
    }

    /** Serves {@code /apis}. */
    void groups(Exchange exchange) {
        List<String> groups = List.copyOf(kinds.groups());
        if (wantsAggregated(exchange)) {
            exchange.respond(200, AGGREGATED_TYPE, JsonTrees.bytes(aggregated(groups)));
            return;
        }
        ObjectNode list = JsonTrees.object().put("kind", "APIGroupList").put("apiVersion", "v1");
        ArrayNode items = list.putArray("groups");
        groups.forEach(group -> items.add(legacyGroup(group)));
        exchange.respond(200, list);
    }

    /** Serves {@code /apis/GROUP}. */
    void group(Exchange exchange, String group) {
        requireReadable(exchange);
        if (!kinds.groups().contains(group)) {
            throw ApiFailure.unknownPath();
        }
        exchange.respond(200, legacyGroup(group).put("kind", "APIGroup").put("apiVersion", "v1"));
    }

    /** Serves {@code /api/v1} and {@code /apis/GROUP/VERSION}. */
    void resources(Exchange exchange, String group, String version) {
        requireReadable(exchange);
        List<ResourceKind> served = kinds.inGroup(group, version);
        if (served.isEmpty()) {
            throw ApiFailure.unknownPath();
        }
        ObjectNode list = JsonTrees.object().put("kind", "APIResourceList").put("apiVersion", "v1");
        list.put("groupVersion", served.get(0).in(version).apiVersion());
        ArrayNode resources = list.putArray("resources");
        for (ResourceKind kind : served) {
            resources.add(legacyResource(kind, kind.plural(), VERBS));
            if (kind.has(Trait.STATUS)) {
                resources.add(legacyResource(kind, kind.plural() + "/status", STATUS_VERBS));
            }
        }
        exchange.respond(200, list);
    }

    private static boolean wantsAggregated(Exchange exchange) {
        requireReadable(exchange);
        return Negotiation.acceptsForm(exchange.accepted(), AGGREGATED_KIND, "v2");
    }

    private static void requireReadable(Exchange exchange) {
        exchange.require("GET");
        List<String> accepted = exchange.accepted();
        if (!Negotiation.acceptsForm(accepted, AGGREGATED_KIND, "v2") && !Negotiation.acceptsForm(accepted, "", "")) {
            throw ApiFailure.notAcceptable(List.of(Body.JSON));
        }
    }

    private ObjectNode legacyGroup(String group) {
        ObjectNode json = JsonTrees.object().put("name", group);
        ArrayNode versions = json.putArray("versions");
        for (String version : kinds.versions(group)) {
            versions.addObject().put("groupVersion", group + "/" + version).put("version", version);
        }
        json.set("preferredVersion", versions.get(0));
        return json;
    }

    private static ObjectNode legacyResource(ResourceKind kind, String name, List<String> verbs) {
        ObjectNode resource = JsonTrees.object()
                .put("name", name)
                .put("singularName", name.equals(kind.plural()) ? kind.singular() : "")
                .put("namespaced", kind.namespaced())
                .put("kind", kind.kind());
        verbs.forEach(resource.putArray("verbs")::add);
        if (name.equals(kind.plural())) {
            putShortNames(kind, resource);
            resource.put("storageVersionHash", storageVersionHash(kind));
        }
        return resource;
    }

    /** Tells clients whether the storage version has changed. */
    private static String storageVersionHash(ResourceKind kind) {
        String version = kind.group() + "/" + kind.version() + "/" + kind.kind();
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(version.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(Arrays.copyOf(hash, 8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static void putShortNames(ResourceKind kind, ObjectNode resource) {
        if (!kind.shortNames().isEmpty()) {
            kind.shortNames().forEach(resource.putArray("shortNames")::add);
        }
    }

    private ObjectNode aggregated(List<String> groups) {
        ObjectNode list = JsonTrees.object().put("kind", AGGREGATED_KIND).put("apiVersion", "apidiscovery.k8s.io/v2");
        list.putObject("metadata");
        ArrayNode items = list.putArray("items");
        for (String group : groups) {
            ObjectNode item = items.addObject();
            ObjectNode metadata = item.putObject("metadata");
            if (!group.isEmpty()) {
                metadata.put("name", group);
            }
            ArrayNode versions = item.putArray("versions");
            kinds.versions(group).forEach(version -> versions.add(aggregated(group, version)));
        }
        return list;
    }

    private ObjectNode aggregated(String group, String groupVersion) {
        ObjectNode version = JsonTrees.object().put("version", groupVersion).put("freshness", "Current");
        ArrayNode resources = version.putArray("resources");
        for (ResourceKind kind : kinds.inGroup(group, groupVersion)) {
            resources.add(aggregatedResource(kind.in(groupVersion)));
        }
        return version;
    }

    private static ObjectNode aggregatedResource(ResourceKind kind) {
        ObjectNode resource = JsonTrees.object().put("resource", kind.plural());
        resource.set("responseKind", kind.groupVersionKind());
        resource.put("scope", kind.namespaced() ? "Namespaced" : "Cluster");
        resource.put("singularResource", kind.singular());
        VERBS.forEach(resource.putArray("verbs")::add);
        putShortNames(kind, resource);
        if (kind.has(Trait.STATUS)) {
            ObjectNode status = resource.putArray("subresources").addObject().put("subresource", "status");
            status.set("responseKind", kind.groupVersionKind());
            STATUS_VERBS.forEach(status.putArray("verbs")::add);
        }
        return resource;
    }
}
