// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The checkpoint of a driver in Go that was made from the community's example driver, and ran here
 * before: a list of UIDs.
 *
 * @see <a href="https://github.com/kubernetes-sigs/dra-example-driver">The example driver; its file
 *     is {@code {"preparedClaims":[{"uid":"…"}]}}</a>
 */
record OtherCheckpoint(List<String> uids, String damage) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    OtherCheckpoint {
        uids = List.copyOf(uids);
    }

    static View<OtherCheckpoint> read(Path file) {
        try {
            return View.of(Files.exists(file) ? decode(Files.readAllBytes(file)) : new OtherCheckpoint(List.of(), ""));
        } catch (IOException e) {
            return View.unread("can't read " + file + ": " + e);
        }
    }

    /** Decodes a file; one of another form lists nothing here. */
    static OtherCheckpoint decode(byte[] file) {
        try {
            JsonNode claims = JSON.readTree(file).path("preparedClaims");
            List<String> uids = new ArrayList<>();
            if (claims.isArray()) {
                claims.forEach(claim -> uids.add(claim.path("uid").asText()));
            }
            return new OtherCheckpoint(uids, "");
        } catch (IOException e) {
            return new OtherCheckpoint(List.of(), "it is not JSON");
        }
    }
}
