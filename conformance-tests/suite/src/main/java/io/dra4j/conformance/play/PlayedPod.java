// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** A pod of a play. */
record PlayedPod(JsonNode object) {

    String namespace() {
        return object.at("/metadata/namespace").asText();
    }

    String name() {
        return object.at("/metadata/name").asText();
    }

    /** The node that it was bound to. */
    String node() {
        return object.at("/spec/nodeName").asText();
    }

    /** The names of its init containers, and then of the others. */
    List<String> containers() {
        List<String> names = new ArrayList<>();
        for (String kind : List.of("initContainers", "containers")) {
            object.path("spec")
                    .path(kind)
                    .forEach(one -> names.add(one.path("name").asText()));
        }
        return names;
    }
}
