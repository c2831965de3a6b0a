// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The names by which a claim's other fields refer to its requests and their alternatives.
 *
 * @param alternatives the names of the alternatives, by request
 */
record RequestNames(Map<String, Set<String>> alternatives) {
    private static final int REFERENCES = 32;
    private static final String RULE =
            "must be the name of a request in the claim or the name of a request and a subrequest"
                    + " separated by '/'";

    static RequestNames of(JsonNode devices) {
        Map<String, Set<String>> alternatives = new HashMap<>();
        for (JsonNode request : devices.path("requests")) {
            Set<String> names = new HashSet<>();
            request.path("firstAvailable")
                    .forEach(one -> names.add(one.path("name").asText()));
            alternatives.put(request.path("name").asText(), names);
        }
        return new RequestNames(alternatives);
    }

    void check(Field references) {
        if (references.requireAtMost(REFERENCES)) {
            references.items().forEach(this::requireKnown);
            references.requireUniqueItems(Field::text);
        }
    }

    void requireKnown(Field reference) {
        List<String> parts = List.of(reference.text().split("/", -1));
        if (parts.size() > 2) {
            reference.invalid(RULE);
            return;
        }
        parts.forEach(part -> reference.requireForm(part, Names::dnsLabelProblems));
        reference.requireThat(isKnown(parts), RULE);
    }

    /** Returns whether a name is known; a request with alternatives is also known without them. */
    private boolean isKnown(List<String> parts) {
        Set<String> known = alternatives.get(parts.get(0));
        return known != null && (parts.size() == 1 || known.contains(parts.get(1)));
    }
}
