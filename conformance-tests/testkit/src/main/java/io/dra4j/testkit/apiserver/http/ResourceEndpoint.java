// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Names;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.registry.Registry.Target;
import io.dra4j.testkit.apiserver.registry.WriteOptions;
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
import java.util.function.Supplier;

/** Turns requests on resources into verbs of the registry, and their results into responses. */
record ResourceEndpoint(
        Registry registry, ObjectStore store, WatchEndpoint watches, FeatureGates gates, InstantSource clock) {
    void handle(Exchange exchange, ResourcePath path) {
        boolean collection = path.isCollection();
        requireMethod(exchange, path);
        if (exchange.method().equals("PATCH")) {
            Patches.requireType(exchange.contentType());
        }
        boolean listing = collection && exchange.method().equals("GET");
        Negotiation.requireForm(exchange.accepted(), listing);
        if (!collection) {
            requireName(path.name());
        }
        boolean optOut = gates.enabled(FeatureGate.MANAGED_FIELDS_OPT_OUT);
        Rendition chosen = Negotiation.choose(exchange.accepted(), exchange.query("includeObject"), optOut, clock);
        Rendition rendition = path.isStored()
                ? chosen
                : new Rendition.Mapped(chosen, kind -> path.served(), object -> object.in(path.served()));
        if (collection) {
            onCollection(exchange, path, rendition);
        } else {
            onObject(exchange, path, rendition);
        }
    }

    private static void requireMethod(Exchange exchange, ResourcePath path) {
        boolean everywhere = path.kind().namespaced() && path.namespace().isEmpty();
        List<String> methods = path.isCollection()
                ? everywhere ? List.of("GET") : List.of("GET", "POST", "DELETE")
                : path.isStatus() ? List.of("GET", "PUT", "PATCH") : List.of("GET", "PUT", "PATCH", "DELETE");
        if (!methods.contains(exchange.method())) {
            throw ApiFailure.methodNotAllowed();
        }
    }

    /** Refuses, with 400, what would lead elsewhere in the store. */
    private static void requireName(String name) {
        List<String> problems = Names.pathSegmentProblems(name);
        if (!problems.isEmpty()) {
            throw ApiFailure.badRequest(
                    "Name parameter invalid: %s: %s".formatted(QuotedText.of(name), String.join(";", problems)));
        }
    }

    private void onCollection(Exchange exchange, ResourcePath path, Rendition rendition) {
        switch (exchange.method()) {
            case "GET" -> {
                Selection selection = selection(exchange, path);
                if (exchange.flag("watch")) {
                    Negotiation.requireStream(rendition);
                    watches.open(exchange, path.kind(), selection, rendition);
                } else {
                    Listing listing = ListRequest.of(exchange).in(store, path.kind(), selection);
                    exchange.respond(200, rendition.list(path.kind(), listing));
                }
            }
            case "POST" -> {
                WriteOptions options = exchange.writeOptions("CreateOptions", new FieldErrors());
                ObjectNode body = body(exchange, path);
                StoredObject created = registry.create(path.kind(), path.served(), path.namespace(), body, options);
                exchange.respond(201, rendition.object(created));
            }
            case "DELETE" -> deleteCollection(exchange, path, rendition);
            default -> throw ApiFailure.methodNotAllowed();
        }
    }

    private void deleteCollection(Exchange exchange, ResourcePath path, Rendition rendition) {
        ListRequest.of(exchange);
        Selection selection = selection(exchange, path);
        DeleteOptions options = DeleteOptions.of(exchange);
        List<StoredObject> deleted =
                registry.deleteCollection(path.kind(), selection, options.preconditions(), options.dryRun());
        Listing listing = Listing.whole(store.revision(), deleted);
        exchange.respond(200, rendition.list(path.kind(), listing));
    }

    private void onObject(Exchange exchange, ResourcePath path, Rendition rendition) {
        switch (exchange.method()) {
            case "GET" -> {
                store.requireReached(WatchRequest.revision(exchange, ApiFailure::unexplained));
                exchange.respond(200, rendition.object(registry.get(path.kind(), path.key())));
            }
            case "PUT" -> {
                WriteOptions options = exchange.writeOptions("UpdateOptions", new FieldErrors());
                ObjectNode body = body(exchange, path);
                boolean made = store.find(path.kind(), path.key()) == null;
                StoredObject updated = registry.update(target(path), body, options);
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
            return Conversion.toStored(path.served(), path.kind(), body);
        }
        return body;
    }

    private static ObjectNode served(ResourcePath path, ObjectNode stored) {
        return path.isStored() ? stored : Conversion.toServed(path.served(), stored);
    }

    private void patch(Exchange exchange, ResourcePath path, Rendition rendition) {
        boolean isApply = exchange.contentType().equals(Patches.APPLY);
        FieldErrors errors = new FieldErrors();
        if (isApply && exchange.query("fieldManager").isEmpty()) {
            errors.required("fieldManager", "is required for apply patch");
        } else if (!isApply && !exchange.query("force").isEmpty()) {
            errors.forbidden("force", "may not be specified for non-apply patch");
        }
        WriteOptions options = exchange.writeOptions("PatchOptions", errors);
        if (isApply) {
            apply(exchange, path, options, rendition);
            return;
        }
        String type = exchange.contentType();
        Supplier<JsonNode> body = exchange.patchBody();
        StoredObject patched = registry.patch(
                target(path),
                object -> stored(path, Patches.apply(type, body.get(), served(path, object))),
                result -> Patches.shown(type, body.get(), result),
                options);
        exchange.respond(200, rendition.object(patched));
    }

    private void apply(Exchange exchange, ResourcePath path, WriteOptions options, Rendition rendition) {
        if (!path.kind().has(Trait.APPLY)) {
            throw ApiFailure.unsupportedPatch();
        }
        boolean made = store.find(path.kind(), path.key()) == null;
        ObjectNode body = stored(path, exchange.appliedBody(path.served()));
        boolean force = exchange.flag("force");
        StoredObject applied = registry.apply(target(path), body, force, options);
        exchange.respond(made ? 201 : 200, rendition.object(applied));
    }

    private void delete(Exchange exchange, ResourcePath path, Rendition rendition) {
        DeleteOptions options = DeleteOptions.of(exchange);
        StoredObject deleted = registry.delete(path.kind(), path.key(), options.preconditions(), options.dryRun());
        boolean returned = path.kind().has(Trait.RETURNS_DELETED) || MetadataRules.hasFinalizers(deleted.json());
        exchange.respond(200, returned ? rendition.object(deleted) : rendition.status(success(deleted)));
    }

    private ObjectNode success(StoredObject deleted) {
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
        ObjectNode metadata = status.putObject("metadata");
        if (gates.version().atLeast(KubernetesVersion.V1_38)) { // #138724
            metadata.put("resourceVersion", Long.toString(deleted.revision()));
        }
        status.put("status", "Success");
        ObjectNode details =
                status.putObject("details").put("name", deleted.key().name());
        if (!deleted.kind().group().isEmpty()) {
            details.put("group", deleted.kind().group());
        }
        details.put("kind", deleted.kind().plural()).put("uid", deleted.uid());
        return status;
    }

    private static Target target(ResourcePath path) {
        Part part = path.isStatus() ? Part.STATUS : Part.MAIN;
        return new Target(path.kind(), path.key(), part, path.served());
    }

    private static Selection selection(Exchange exchange, ResourcePath path) {
        return new Selection(
                path.namespace(),
                FieldSelector.parse(path.served(), exchange.query("fieldSelector")),
                LabelSelector.parse(exchange.query("labelSelector")));
    }
}
