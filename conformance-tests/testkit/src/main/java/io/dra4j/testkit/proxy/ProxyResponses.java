// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The objects of the proxy's own responses. */
final class ProxyResponses {

    private ProxyResponses() {}

    /** A Status that no API server has written. */
    static ObjectNode injected(int code, String reason) {
        return status(code, reason, "injected by the proxy before the API server: " + reason);
    }

    static ObjectNode status(int code, String reason, String message) {
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.put("kind", "Status").put("apiVersion", "v1").putObject("metadata");
        status.put("status", "Failure").put("reason", reason).put("code", code);
        return status.put("message", message);
    }

    /** The Status that ends a watch whose revision is too old. */
    static ObjectNode gone() {
        return injected(410, "Expired");
    }
}
