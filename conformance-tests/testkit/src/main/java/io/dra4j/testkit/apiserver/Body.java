// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;

/** What an answer carries, and in which form. */
record Body(String contentType, byte[] bytes) {
    static Body json(byte[] bytes) {
        return new Body(Exchange.JSON, bytes);
    }

    static Body json(JsonNode object) {
        return json(Json.bytes(object));
    }
}
