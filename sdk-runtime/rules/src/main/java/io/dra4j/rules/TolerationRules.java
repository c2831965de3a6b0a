// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** Rules for the tolerations of requests, and of the results to which the scheduler copies them. */
final class TolerationRules {
    private static final List<String> OPERATORS = List.of("Equal", "Exists");

    private TolerationRules() {}

    /** {@code operator: Equal} by default. */
    static void setDefaults(JsonNode tolerations) {
        for (JsonNode one : tolerations) {
            if (one instanceof ObjectNode toleration
                    && one.path("operator").asText().isEmpty()) {
                toleration.put("operator", "Equal");
            }
        }
    }

    static void check(Field toleration) {
        Field key = toleration.at("key");
        if (!key.text().isEmpty()) {
            key.requireForm(Names::qualifiedNameProblems);
        }
        checkValue(toleration.at("operator"), toleration.at("value"));
        Field effect = toleration.at("effect");
        if (!effect.text().isEmpty()) {
            effect.requireOneOf(DeviceRules.EFFECTS);
        }
    }

    private static void checkValue(Field operator, Field value) {
        switch (operator.text()) {
            case "Exists" -> value.requireThat(value.text().isEmpty(), "must be empty for operator `Exists`");
            case "Equal" -> value.requireForm(Names::labelValueProblems);
            case "" -> operator.required("");
            default -> operator.requireOneOf(OPERATORS);
        }
    }
}
