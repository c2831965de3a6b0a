// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Asks for claims as client-go does: it refuses a name that could not be one segment of a path, and
 * escapes any other as Go does, which leaves the semicolon as it is.
 */
final class GoNames extends ClaimWork {

    GoNames(BareDriver driver) {
        super(driver);
    }

    @Override
    void check(ClaimId id) {
        for (String name : List.of(id.namespace(), id.name())) {
            if (name.isEmpty() || name.matches("\\.\\.?|(?s).*[/%].*")) {
                throw new Refused("invalid resource name: it may not be a segment of a path");
            }
        }
        if (!id.hasSaneUid()) {
            throw new Refused("The claim has a UID that no claim can have");
        }
    }

    @Override
    JsonNode fetch(ClaimId id) {
        return driver.api.get(
                ApiClient.claim(
                        new ClaimId(escaped(id.namespace()), escaped(id.name()), id.uid())));
    }

    private static String escaped(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~")
                .replace("%3B", ";")
                .replace("%24", "$")
                .replace("%26", "&")
                .replace("%3A", ":")
                .replace("%3D", "=")
                .replace("%40", "@");
    }
}
