// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** The API server as checks use it: an answer with any status is a result. */
public record CheckedApi(ApiReader reader) implements ClusterApi {

    @Override
    public Answer get(String path) {
        return answer(path, null);
    }

    @Override
    public Answer create(String path, JsonNode body) {
        return answer(path, body);
    }

    private Answer answer(String path, @Nullable JsonNode body) {
        try {
            HttpResponse<byte[]> response = reader.send(path, body);
            return new Answer(response.code(), tree(response.body()), date(response.header("Date")));
        } catch (ReadException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }

    /** An intermediate proxy may return a body that is not JSON. */
    private static JsonNode tree(byte @Nullable [] body) {
        try {
            return ApiReader.json(body);
        } catch (IOException e) {
            return JsonNodeFactory.instance.missingNode();
        }
    }

    private static @Nullable Instant date(@Nullable String header) {
        try {
            return header == null ? null : DateTimeFormatter.RFC_1123_DATE_TIME.parse(header, Instant::from);
        } catch (DateTimeParseException e) {
            return null;
        }
    }
}
