// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * A published device that claims may get.
 *
 * @param driver the driver of its slice
 * @param pool its pool
 * @param json all that is published of it
 */
public record Candidate(String driver, String pool, JsonNode json) {

    /** Its name within the pool. */
    public String name() {
        return json.path("name").asText();
    }

    /** Its pool and name, which distinguish it from the driver's other devices. */
    public String key() {
        return pool + "/" + name();
    }

    /** An attribute, by the qualified name under which constraints look for it. */
    Optional<JsonNode> attribute(String qualifiedName) {
        JsonNode attributes = json.path("attributes");
        if (attributes.has(qualifiedName)) {
            return Optional.of(attributes.get(qualifiedName));
        }
        String own = driver + "/";
        return qualifiedName.startsWith(own)
                ? Optional.ofNullable(attributes.get(qualifiedName.substring(own.length())))
                : Optional.empty();
    }
}
