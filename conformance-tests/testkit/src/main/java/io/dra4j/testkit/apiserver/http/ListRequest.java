// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.Selection;
import io.dra4j.testkit.apiserver.store.StoredObject;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters of a list.
 *
 * @param revision how new the list must be, or which one is asked for; 0 for any
 * @param exact whether that very revision is asked for
 * @param limit how many objects to send at once; 0 for all
 * @param continuation where an earlier part of the same list ended; null at the beginning
 */
record ListRequest(
        long revision, boolean exact, int limit, @Nullable Continuation continuation) {

    private static final String MATCH = WatchRequest.MATCH;

    /**
     * @throws ApiFailure 422 or 400 when the parameters conflict, as in the real server
     */
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

    /**
     * Finds the list, or the part of it.
     *
     * @throws ApiFailure 410 when the revision is too old, 504 when it is not reached yet
     */
    Listing in(ObjectStore store, ResourceKind kind, Selection selection) {
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

    private static Listing rest(ObjectStore store, ResourceKind kind, Selection selection, Continuation from) {
        if (from.revision() == Continuation.CURRENT) {
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
     * @param revision of the whole list; {@link #CURRENT} for a rest that may be newer than what came before
     * @param after the last object that was sent
     */
    private record Continuation(long revision, ObjectKey after) {
        static final long CURRENT = -1;

        String token() {
            ObjectNode fields = Json.object().put("v", "meta.k8s.io/v1").put("rv", revision);
            fields.put("namespace", after.namespace()).put("name", after.name());
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.bytes(fields));
        }

        /**
         * Reads a token.
         *
         * @throws ApiFailure 400 when it is none of this server's
         */
        static Continuation parse(String token) {
            try {
                byte[] decoded = Base64.getUrlDecoder().decode(token);
                String problem = JsonSyntax.problem(decoded);
                if (!problem.isEmpty()) {
                    throw invalid(problem);
                }
                JsonNode fields = Json.MAPPER.readTree(decoded);
                JsonNode revision = fields.path("rv");
                String namespace = fields.path("namespace").asText();
                if (revision.isIntegralNumber() && fields.path("name").isTextual()) {
                    ObjectKey last =
                            new ObjectKey(namespace, fields.path("name").asText());
                    return new Continuation(revision.asLong(), last);
                }
            } catch (IOException | IllegalArgumentException e) {
                throw invalid("it is no token of this server");
            }
            throw invalid("it is no token of this server");
        }

        private static ApiFailure invalid(String why) {
            return ApiFailure.badRequest("invalid continue token: continue key is not valid: " + why);
        }
    }
}
