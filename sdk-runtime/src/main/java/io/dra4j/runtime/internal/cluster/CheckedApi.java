// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The API server as checks ask it. */
final class CheckedApi implements ClusterApi {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApiCalls calls;

    CheckedApi(ApiCalls calls) {
        this.calls = calls;
    }

    @Override
    public Answer get(String path) {
        return answer("GET", path, null);
    }

    @Override
    public Answer create(String path, JsonNode body) {
        return answer("POST", path, body);
    }

    private Answer answer(String method, String path, @Nullable JsonNode body) {
        try {
            return calls.answer(method, path, body, LIMIT);
        } catch (ClusterException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }
}
