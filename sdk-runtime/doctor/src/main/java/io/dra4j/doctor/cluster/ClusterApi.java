// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Requests to an API server that change nothing; each program supplies its own client. */
public interface ClusterApi {

    /**
     * An answer with any status.
     *
     * @param status the HTTP status
     * @param body the object, a list, or a {@code Status}
     * @param date the server's clock; null if the answer has no date
     */
    record Answer(int status, JsonNode body, @Nullable Instant date) {}

    /**
     * Reads a path, such as {@code api/v1/nodes/n}.
     *
     * @throws io.dra4j.doctor.NotCheckedException if there is no answer
     */
    Answer get(String path);

    /**
     * Creates something that is not stored: an access review, or an object with {@code dryRun=All}.
     *
     * @throws io.dra4j.doctor.NotCheckedException if there is no answer
     */
    Answer create(String path, JsonNode body);
}
