// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.Set;

/** The names that a claim's other fields have for its requests and their subrequests. */
final class RequestNames {
    private RequestNames() {}

    static Set<String> of(JsonNode claim) {
        Set<String> names = new HashSet<>();
        for (JsonNode request : claim.path("spec").path("devices").path("requests")) {
            String name = request.path("name").asText();
            // Of a request with alternatives as well: the real server takes it without the
            // subrequest.
            names.add(name);
            request.path("firstAvailable")
                    .forEach(sub -> names.add(name + "/" + sub.path("name").asText()));
        }
        return names;
    }

    static void requireKnown(Field request, Set<String> names) {
        request.requireThat(
                names.contains(request.text()),
                "must be the name of a request in the claim or the name of a request and a subrequest"
                        + " separated by '/'");
    }
}
