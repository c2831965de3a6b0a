// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for a claim's constraints, and for the derived attributes that only constraints use. */
record ConstraintRules(Field constraints, FeatureGates gates, ExpressionRules expressions) {
    private static final int CONSTRAINTS = 32;
    private static final int DERIVED = 32;
    private static final List<String> KINDS = List.of("matchAttribute", "distinctAttribute");

    private boolean checkFullName(Field attribute) {
        return new AttributeKeys(gates.version()).checkFullName(attribute);
    }

    void check(RequestNames names) {
        if (constraints.requireAtMost(CONSTRAINTS)) {
            for (Field constraint : constraints.items()) {
                names.check(constraint.at("requests"));
                checkAttribute(constraint);
            }
        }
    }

    /** Checks the first of the attributes; the server does not notice a second one. */
    private void checkAttribute(Field constraint) {
        for (String kind : KINDS) {
            if (constraint.at(kind).present()) {
                checkFullName(constraint.at(kind));
                return;
            }
        }
        if (gates.enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY)) {
            constraint.required("exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but"
                    + " multiple fields are set");
        } else {
            constraint.at("matchAttribute").required("");
        }
    }

    /**
     * @param request the name that constraints use for the request or subrequest
     */
    void checkDerived(Field attributes, String request) {
        attributes.requireAtMost(DERIVED);
        Set<String> names = new HashSet<>();
        for (Field attribute : attributes.items()) {
            Field name = attribute.at("name");
            if (name.requireText() && checkFullName(name)) {
                attribute.requireUnique(name.text(), names);
                String rule = "must be referenced by at least one matchAttribute or distinctAttribute"
                        + " constraint targeting this request";
                name.requireThat(uses(name.text(), request), rule);
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

    /** Returns whether a constraint applies: to all requests if it names none; to a request's subrequests as well. */
    private static boolean isOn(JsonNode requests, String request) {
        String parent = request.split("/")[0];
        return requests.isEmpty()
                || requests.valueStream()
                        .map(JsonNode::asText)
                        .anyMatch(name -> name.equals(request) || name.equals(parent));
    }
}
