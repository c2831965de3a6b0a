// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;

/** The body of a response and its media type. */
record Body(String contentType, byte[] bytes) {
    static final String JSON = "application/json";

    static final String YAML = "application/yaml";

    static Body json(byte[] bytes) {
        return new Body(JSON, bytes);
    }

    static Body json(JsonNode object) {
        return json(JsonTrees.bytes(object));
    }
}
