// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for a claim's constraints, and for the derived attributes that only constraints use. */
final class ConstraintRules {
    private static final int REQUESTS = 32;
    private static final int DERIVED = 32;
    private static final List<String> KINDS = List.of("matchAttribute", "distinctAttribute");

    private final Field constraints;
    private final ExpressionRules expressions;

    ConstraintRules(Field constraints, ExpressionRules expressions) {
        this.constraints = constraints;
        this.expressions = expressions;
    }

    /**
     * @param names of all requests, those with subrequests included
     */
    void check(Set<String> names) {
        constraints.requireAtMost(REQUESTS);
        for (Field constraint : constraints.items()) {
            Set<String> seen = new HashSet<>();
            for (Field request : constraint.at("requests").items()) {
                RequestNames.requireKnown(request, names);
                request.requireUnique(seen);
            }
            List<String> kinds =
                    KINDS.stream().filter(kind -> constraint.at(kind).present()).toList();
            kinds.forEach(kind -> AttributeRules.checkFullName(constraint.at(kind)));
            if (kinds.isEmpty()) {
                constraint.required("one of `matchAttribute` and `distinctAttribute` is required");
            }
        }
    }

    /**
     * @param request the name that constraints have for the request or subrequest
     */
    void checkDerived(Field attributes, String request) {
        attributes.requireAtMost(DERIVED);
        Set<String> names = new HashSet<>();
        for (Field attribute : attributes.items()) {
            Field name = attribute.at("name");
            if (name.requireText() && AttributeRules.checkFullName(name)) {
                name.requireUnique(names);
                boolean used = uses(name.text(), request);
                name.requireThat(used, "must be used by a constraint on this request");
            }
            expressions.checkDerivedAttribute(attribute.at("expression"));
        }
    }

    private boolean uses(String attribute, String request) {
        return constraints
                .value()
                .valueStream()
                .filter(one -> KINDS.stream().anyMatch(k -> one.path(k).asText().equals(attribute)))
                .anyMatch(constraint -> isOn(constraint.path("requests"), request));
    }

    /** A constraint without requests is on all; one on a request is on its subrequests. */
    private static boolean isOn(JsonNode requests, String request) {
        String parent = request.split("/")[0];
        return requests.isEmpty()
                || requests.valueStream()
                        .map(JsonNode::asText)
                        .anyMatch(name -> name.equals(request) || name.equals(parent));
    }
}
