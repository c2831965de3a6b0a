// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.registry.Preconditions;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.registry.Registry.Target;
import io.dra4j.testkit.apiserver.store.FieldSelector;
import io.dra4j.testkit.apiserver.store.LabelSelector;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.Selection;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.time.InstantSource;
import java.util.List;

/** Turns requests on resources into verbs of the registry, and their results into responses. */
final class ResourceEndpoint {
    private final Registry registry;
    private final ObjectStore store;
    private final WatchEndpoint watches;
    private final InstantSource clock;

    ResourceEndpoint(
            Registry registry, ObjectStore store, WatchEndpoint watches, InstantSource clock) {
        this.registry = registry;
        this.store = store;
        this.watches = watches;
        this.clock = clock;
    }

    void handle(Exchange exchange, ResourcePath path) {
        Rendition chosen =
                Negotiation.choose(exchange.accepted(), exchange.query("includeObject"), clock);
        Rendition rendition =
                path.isStored() ? chosen : new VersionedRendition(chosen, path.version());
        if (path.isCollection()) {
            onCollection(exchange, path, rendition);
        } else {
            onObject(exchange, path, rendition);
        }
    }

    private void onCollection(Exchange exchange, ResourcePath path, Rendition rendition) {
        switch (exchange.method()) {
            case "GET" -> {
                Selection selection = selection(exchange, path);
                if (exchange.flag("watch")) {
                    watches.open(exchange, path.kind(), selection, rendition);
                } else {
                    Listing listing = ListRequest.of(exchange).in(store, path.kind(), selection);
                    exchange.respond(200, rendition.list(path.kind(), listing));
                }
            }
            case "POST" -> {
                requireNamespaceInPath(path);
                ObjectNode body = body(exchange, path);
                StoredObject created =
                        registry.create(
                                path.kind(), path.namespace(), body, exchange.writeOptions());
                exchange.respond(201, rendition.object(created));
            }
            case "DELETE" -> deleteCollection(exchange, path, rendition);
            default -> throw ApiFailure.methodNotAllowed();
        }
    }

    private static void requireNamespaceInPath(ResourcePath path) {
        if (path.kind().namespaced() && path.namespace().isEmpty()) {
            throw ApiFailure.methodNotAllowed();
        }
    }

    private void deleteCollection(Exchange exchange, ResourcePath path, Rendition rendition) {
        requireNamespaceInPath(path);
        JsonNode options = exchange.optionalBody();
        List<StoredObject> deleted =
                registry.deleteCollection(
                        path.kind(),
                        selection(exchange, path),
                        Preconditions.of(options),
                        isDryRun(exchange, options));
        Listing listing = Listing.whole(store.revision(), deleted);
        exchange.respond(200, rendition.list(path.kind(), listing));
    }

    private void onObject(Exchange exchange, ResourcePath path, Rendition rendition) {
        switch (exchange.method()) {
            case "GET" -> getOrWatch(exchange, path, rendition);
            case "PUT" -> {
                ObjectNode body = body(exchange, path);
                boolean made = store.find(path.kind(), path.key()) == null;
                StoredObject updated = registry.update(target(path), body, exchange.writeOptions());
                exchange.respond(made ? 201 : 200, rendition.object(updated));
            }
            case "PATCH" -> patch(exchange, path, rendition);
            case "DELETE" -> delete(exchange, path, rendition);
            default -> throw ApiFailure.methodNotAllowed();
        }
    }

    /** The body as an object of the stored version. */
    private static ObjectNode body(Exchange exchange, ResourcePath path) {
        return stored(path, exchange.objectBody(path.served()));
    }

    private static ObjectNode stored(ResourcePath path, ObjectNode body) {
        if (!path.isStored()) {
            MetadataRules.requireFits(path.served(), path.namespace(), body);
            body.put("apiVersion", path.kind().apiVersion());
        }
        return body;
    }

    private void patch(Exchange exchange, ResourcePath path, Rendition rendition) {
        boolean isApply = exchange.contentType().equals(Patches.APPLY);
        if (isApply && path.kind().has(Trait.APPLY)) {
            apply(exchange, path, rendition);
            return;
        }
        if (!isApply && !exchange.query("force").isEmpty()) {
            throw ApiFailure.invalidPatchOptions(
                    new FieldErrors()
                            .forbidden("force", "may not be specified for non-apply patch"));
        }
        var patch = Patches.read(exchange.contentType(), exchange::jsonBody);
        String seen = path.served().apiVersion();
        StoredObject patched =
                registry.patch(
                        target(path),
                        object -> stored(path, patch.apply(object.put("apiVersion", seen))),
                        exchange.writeOptions());
        exchange.respond(200, rendition.object(patched));
    }

    private void apply(Exchange exchange, ResourcePath path, Rendition rendition) {
        if (exchange.query("fieldManager").isEmpty()) {
            throw ApiFailure.invalidPatchOptions(
                    new FieldErrors().required("fieldManager", "is required for apply patch"));
        }
        boolean made = store.find(path.kind(), path.key()) == null;
        ObjectNode body = exchange.appliedBody();
        boolean force = exchange.flag("force");
        StoredObject applied = registry.apply(target(path), body, force, exchange.writeOptions());
        exchange.respond(made ? 201 : 200, rendition.object(applied));
    }

    private void getOrWatch(Exchange exchange, ResourcePath path, Rendition rendition) {
        if (exchange.flag("watch")) {
            FieldSelector named = FieldSelector.ALL.and("metadata.name", path.name());
            Selection one = new Selection(path.namespace(), named, LabelSelector.ALL);
            watches.open(exchange, path.kind(), one, rendition);
        } else {
            exchange.respond(200, rendition.object(registry.get(path.kind(), path.key())));
        }
    }

    private void delete(Exchange exchange, ResourcePath path, Rendition rendition) {
        if (path.isStatus()) {
            throw ApiFailure.methodNotAllowed();
        }
        JsonNode options = exchange.optionalBody();
        Preconditions wanted = Preconditions.of(options);
        StoredObject deleted =
                registry.delete(path.kind(), path.key(), wanted, isDryRun(exchange, options));
        boolean returned =
                path.kind().has(Trait.RETURNS_DELETED)
                        || MetadataRules.hasFinalizers(deleted.json());
        exchange.respond(
                200, returned ? rendition.object(deleted) : rendition.status(success(deleted)));
    }

    private static boolean isDryRun(Exchange exchange, JsonNode options) {
        return exchange.dryRun() || Json.at(options, "dryRun").toString().contains("All");
    }

    private static ObjectNode success(StoredObject deleted) {
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        status.put("status", "Success");
        ObjectNode details = status.putObject("details").put("name", deleted.key().name());
        if (!deleted.kind().group().isEmpty()) {
            details.put("group", deleted.kind().group());
        }
        details.put("kind", deleted.kind().plural()).put("uid", deleted.uid());
        return status;
    }

    private static Target target(ResourcePath path) {
        return new Target(path.kind(), path.key(), path.isStatus() ? Part.STATUS : Part.MAIN);
    }

    private static Selection selection(Exchange exchange, ResourcePath path) {
        return new Selection(
                path.namespace(),
                FieldSelector.parse(path.kind(), exchange.query("fieldSelector")),
                LabelSelector.parse(exchange.query("labelSelector")));
    }
}
