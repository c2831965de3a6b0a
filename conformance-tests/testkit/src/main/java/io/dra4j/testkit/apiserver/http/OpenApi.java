// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * OpenAPI v3 documents, as far as {@code kubectl apply} looks: which kinds there are, that a patch takes {@code
 * fieldValidation}, and which patch formats. Schemas are permissive: they name no fields.
 *
 * <p>There is no OpenAPI v2 document; clients that know only v2 get a 404.
 */
record OpenApi(ResourceKinds kinds) {
    private static final List<String> PATCH_TYPES =
            List.of("application/json-patch+json", "application/merge-patch+json");

    void handle(Exchange exchange, List<String> path) {
        if (path.equals(List.of("v3"))) {
            exchange.respond(200, index());
        } else if (path.size() > 1 && path.get(0).equals("v3")) {
            exchange.respond(200, document(path.subList(1, path.size())));
        } else {
            throw ApiFailure.unknownPath();
        }
    }

    private ObjectNode index() {
        ObjectNode index = Json.object();
        ObjectNode paths = index.putObject("paths");
        entry(paths, "api/v1");
        for (String group : kinds.groups()) {
            kinds.versions(group).forEach(v -> entry(paths, "apis/" + group + "/" + v));
        }
        return index;
    }

    private static void entry(ObjectNode paths, String path) {
        paths.putObject(path).put("serverRelativeURL", "/openapi/v3/" + path);
    }

    private ObjectNode document(List<String> path) {
        boolean isCore = path.size() == 2 && path.get(0).equals("api");
        boolean isOther =
                path.size() == 3 && path.get(0).equals("apis") && !path.get(1).isEmpty();
        String group = isOther ? path.get(1) : "";
        String groupVersion = path.get(path.size() - 1);
        List<ResourceKind> served = kinds.inGroup(group, groupVersion);
        if (!isCore && !isOther || served.isEmpty()) {
            throw ApiFailure.unknownPath();
        }
        ObjectNode document = Json.object().put("openapi", "3.0.0");
        String version = kinds.version().gitVersion();
        document.putObject("info").put("title", "Kubernetes").put("version", version);
        ObjectNode paths = document.putObject("paths");
        ObjectNode schemas = document.putObject("components").putObject("schemas");
        for (ResourceKind stored : served) {
            ResourceKind kind = stored.in(groupVersion);
            String collection = "/"
                    + String.join("/", path)
                    + (kind.namespaced() ? "/namespaces/{namespace}/" : "/")
                    + kind.plural();
            paths.set(collection, operations(kind, "get", "post"));
            paths.set(collection + "/{name}", operations(kind, "get", "put", "patch", "delete"));
            schemas.set(schemaName(kind), schema(kind));
        }
        return document;
    }

    private static ObjectNode operations(ResourceKind kind, String... methods) {
        ObjectNode path = Json.object();
        for (String method : methods) {
            ObjectNode operation = path.putObject(method);
            operation.set("x-kubernetes-group-version-kind", kind.groupVersionKind());
            operation.put("x-kubernetes-action", method);
            ArrayNode parameters = operation.putArray("parameters");
            parameters.add(parameter("dryRun"));
            parameters.add(parameter("fieldValidation"));
            if (method.equals("patch")) {
                ObjectNode content = operation.putObject("requestBody").putObject("content");
                for (String type : patchTypes(kind)) {
                    content.putObject(type).putObject("schema").put("type", "object");
                }
            }
            operation.putObject("responses").putObject("200").put("description", "OK");
        }
        return path;
    }

    private static List<String> patchTypes(ResourceKind kind) {
        return Stream.concat(PATCH_TYPES.stream(), Stream.of(Patches.APPLY).filter(type -> kind.has(Trait.APPLY)))
                .toList();
    }

    private static ObjectNode parameter(String name) {
        ObjectNode parameter = Json.object().put("name", name).put("in", "query");
        parameter.putObject("schema").put("type", "string").put("uniqueItems", true);
        return parameter;
    }

    private static ObjectNode schema(ResourceKind kind) {
        ObjectNode schema = Json.object().put("type", "object").put("x-kubernetes-preserve-unknown-fields", true);
        schema.putArray("x-kubernetes-group-version-kind").add(kind.groupVersionKind());
        return schema;
    }

    private static String schemaName(ResourceKind kind) {
        String group = kind.group().isEmpty() ? "core" : kind.group().split("\\.")[0];
        return String.join(".", "io.k8s.api", group.toLowerCase(Locale.ROOT), kind.version(), kind.kind());
    }
}
