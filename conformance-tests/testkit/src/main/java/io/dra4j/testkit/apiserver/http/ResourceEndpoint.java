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
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.registry.Registry.Target;
import io.dra4j.testkit.apiserver.registry.WriteOptions;
import io.dra4j.testkit.apiserver.store.FieldSelector;
import io.dra4j.testkit.apiserver.store.LabelSelector;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.ObjectSelection;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

    /** Refuses, with 400, names that would point elsewhere in the store. */
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
                ObjectSelection selection = selection(exchange, path);
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
        ObjectSelection selection = selection(exchange, path);
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
        ObjectNode status = JsonTrees.object().put("kind", "Status").put("apiVersion", "v1");
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

    private static ObjectSelection selection(Exchange exchange, ResourcePath path) {
        return new ObjectSelection(
                path.namespace(),
                FieldSelector.parse(path.served(), exchange.query("fieldSelector")),
                LabelSelector.parse(exchange.query("labelSelector")));
    }

    /**
     * The query parameters of a list.
     *
     * @param revision the minimum revision of the list, or the requested one; 0 for any
     * @param exact whether exactly that revision is requested
     * @param limit how many objects to send in one response; 0 for all
     * @param continuation where an earlier part of the same list ended; null at the beginning
     */
    private record ListRequest(
            long revision,
            boolean exact,
            int limit,
            @Nullable Continuation continuation) {

        private static final String MATCH = WatchRequest.MATCH;

        /** Answers 422 or 400 when the parameters conflict, as the real server does. */
        static ListRequest of(Exchange exchange) {
            String asked = exchange.query("resourceVersion");
            String token = exchange.query("continue");
            String match = exchange.query(MATCH);
            long asMany = WatchRequest.number(exchange, "limit");
            WatchRequest.number(exchange, "timeoutSeconds");
            requireValid(exchange, match, asked, token);
            long revision =
                    WatchRequest.revision(exchange, why -> ApiFailure.badRequest("invalid resource version: " + why));
            if (!token.isEmpty() && revision != 0) {
                throw ApiFailure.badRequest("specifying resource version is not allowed when using continue");
            }
            // The cache of the real server, which serves revision 0, has no parts.
            long wanted = Math.max(0, asMany);
            long limit = asked.equals("0") ? 0 : wanted;
            boolean exact = match.equals("Exact") || match.isEmpty() && limit > 0 && revision > 0;
            return new ListRequest(
                    revision,
                    exact,
                    (int) Math.min(limit, Integer.MAX_VALUE),
                    token.isEmpty() ? null : Continuation.parse(token));
        }

        private static void requireValid(Exchange exchange, String match, String revision, String token) {
            FieldErrors errors = new FieldErrors();
            if (!match.isEmpty()) {
                if (revision.isEmpty()) {
                    errors.forbidden(MATCH, MATCH + " is forbidden unless resourceVersion is provided");
                }
                if (!token.isEmpty()) {
                    errors.forbidden(MATCH, MATCH + " is forbidden when continue is provided");
                }
                if (!match.equals("Exact") && !match.equals("NotOlderThan")) {
                    errors.notSupported(MATCH, match, List.of("Exact", "NotOlderThan", ""));
                }
                if (match.equals("Exact") && revision.equals("0")) {
                    errors.forbidden(MATCH, MATCH + " \"exact\" is forbidden for resourceVersion \"0\"");
                }
            }
            if (exchange.has("sendInitialEvents")) {
                errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            }
            if (!errors.isEmpty()) {
                throw ApiFailure.invalidListOptions(errors);
            }
        }

        /** Finds the list, or the part of it; 410 for a revision that is too old, 504 for one not reached yet. */
        Listing in(ObjectStore store, ResourceKind kind, ObjectSelection selection) {
            boolean counted = selection.hasNoConditions();
            if (continuation == null) {
                store.requireReached(revision);
                Listing whole = exact ? store.listAt(kind, selection, revision) : store.list(kind, selection);
                return part(whole, whole.objects(), counted);
            }
            Listing whole = rest(store, kind, selection, continuation);
            ObjectKey last = continuation.after();
            return part(
                    whole,
                    whole.objects().stream()
                            .filter(one -> one.key().compareTo(last) > 0)
                            .toList(),
                    counted);
        }

        private static Listing rest(
                ObjectStore store, ResourceKind kind, ObjectSelection selection, Continuation from) {
            if (from.revision() < 0) { // CURRENT, as any other negative one
                return store.list(kind, selection);
            }
            store.requireReached(from.revision());
            if (from.revision() < store.oldestRevision()) {
                throw ApiFailure.expiredContinuation(new Continuation(Continuation.CURRENT, from.after()).token());
            }
            return store.listAt(kind, selection, from.revision());
        }

        private Listing part(Listing whole, List<StoredObject> left, boolean counted) {
            if (limit == 0 || left.size() <= limit) {
                return Listing.whole(whole.revision(), left);
            }
            List<StoredObject> now = left.subList(0, limit);
            Continuation next =
                    new Continuation(whole.revision(), now.get(limit - 1).key());
            return new Listing(whole.revision(), now, next.token(), counted ? left.size() - limit : 0);
        }

        /**
         * The beginning of the next part of a list; an opaque token for clients.
         *
         * @param revision the revision of the whole list; {@link #CURRENT} for a rest that may be newer than what came
         *     before
         * @param after the key of the last object that was sent
         */
        private record Continuation(long revision, ObjectKey after) {
            static final long CURRENT = -1;

            String token() {
                ObjectNode fields =
                        JsonTrees.object().put("v", "meta.k8s.io/v1").put("rv", revision);
                fields.put("namespace", after.namespace()).put("name", after.name());
                return Base64.getUrlEncoder().withoutPadding().encodeToString(JsonTrees.bytes(fields));
            }

            /** Reads a token; 400 when it was not issued by this server. */
            static Continuation parse(String token) {
                try {
                    byte[] decoded = Base64.getUrlDecoder().decode(token);
                    String problem = JsonSyntax.problem(decoded);
                    if (!problem.isEmpty()) {
                        throw invalid(problem);
                    }
                    JsonNode fields = JsonTrees.MAPPER.readTree(decoded);
                    JsonNode revision = fields.path("rv");
                    String namespace = fields.path("namespace").asText();
                    if (revision.isIntegralNumber() && fields.path("name").isTextual()) {
                        ObjectKey last =
                                new ObjectKey(namespace, fields.path("name").asText());
                        return new Continuation(revision.asLong(), last);
                    }
                } catch (IOException | IllegalArgumentException e) {
                    throw invalid("it is not a token of this server");
                }
                throw invalid("it is not a token of this server");
            }

            private static ApiFailure invalid(String why) {
                return ApiFailure.badRequest("invalid continue token: continue key is not valid: " + why);
            }
        }
    }
}
