// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import java.io.IOException;
import java.util.Base64;

/**
 * The beginning of the next part of a list; an opaque token for clients.
 *
 * @param revision of the whole list; {@link #CURRENT} for a rest that may be newer than what came
 *     before
 * @param after the last object that was sent
 */
record Continuation(long revision, ObjectKey after) {
    static final long CURRENT = -1;

    String token() {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(
                        Json.bytes(
                                Json.object()
                                        .put("v", "meta.k8s.io/v1")
                                        .put("rv", revision)
                                        .put("namespace", after.namespace())
                                        .put("name", after.name())));
    }

    /**
     * Reads a token.
     *
     * @throws ApiFailure 400 when it is none of this server's
     */
    static Continuation parse(String token) {
        try {
            JsonNode fields = Json.MAPPER.readTree(Base64.getUrlDecoder().decode(token));
            if (fields.path("rv").isIntegralNumber() && fields.path("name").isTextual()) {
                return new Continuation(
                        fields.path("rv").asLong(),
                        new ObjectKey(
                                fields.path("namespace").asText(), fields.path("name").asText()));
            }
        } catch (IOException | IllegalArgumentException e) {
            throw invalid();
        }
        throw invalid();
    }

    private static ApiFailure invalid() {
        return ApiFailure.badRequest("continue key is not valid: it is no token of this server");
    }
}
