// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.List;

/** Validates the node selection of slices and devices. */
final class NodeRules {
    private static final List<String> OPERATORS =
            List.of("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn");

    private NodeRules() {}

    static void checkName(JsonNode parent, String field, FieldErrors errors) {
        if (!Json.present(parent, "nodeName")) {
            return;
        }
        String name = parent.path("nodeName").asText();
        String problem =
                name.isEmpty()
                        ? "must be either unset or set to a non-empty string"
                        : Names.dnsSubdomainProblem(name);
        if (!problem.isEmpty()) {
            errors.invalid(field, name, problem);
        }
    }

    static void checkTrueOrUnset(JsonNode parent, String name, String field, FieldErrors errors) {
        if (Json.present(parent, name) && !parent.path(name).asBoolean()) {
            errors.invalid(field, false, "must be either unset or set to true");
        }
    }

    /**
     * @param exactTerms how many terms there must be; 0 for at least one
     */
    static void checkSelector(JsonNode parent, String field, int exactTerms, FieldErrors errors) {
        if (!Json.present(parent, "nodeSelector")) {
            return;
        }
        JsonNode terms = Json.at(parent, "nodeSelector", "nodeSelectorTerms");
        String path = field + ".nodeSelectorTerms";
        if (terms.isEmpty()) {
            errors.required(path, "must have at least one node selector term");
        } else if (exactTerms > 0 && terms.size() != exactTerms) {
            errors.invalid(path, terms.size(), "must have exactly one node selector term");
        }
        for (int i = 0; i < terms.size(); i++) {
            checkTerm(terms.get(i), path + "[" + i + "]", errors);
        }
    }

    private static void checkTerm(JsonNode term, String path, FieldErrors errors) {
        JsonNode expressions = term.path("matchExpressions");
        for (int i = 0; i < expressions.size(); i++) {
            checkExpression(expressions.get(i), path + ".matchExpressions[" + i + "]", errors);
        }
        JsonNode fields = term.path("matchFields");
        for (int i = 0; i < fields.size(); i++) {
            checkField(fields.get(i), path + ".matchFields[" + i + "]", errors);
        }
    }

    private static void checkExpression(JsonNode expression, String path, FieldErrors errors) {
        String key = expression.path("key").asText();
        String keyProblem = Names.qualifiedNameProblem(key);
        if (!keyProblem.isEmpty()) {
            errors.invalid(path + ".key", key, keyProblem);
        }
        JsonNode values = expression.path("values");
        checkOperator(expression.path("operator").asText(), values, path, errors);
        for (int i = 0; i < values.size(); i++) {
            String problem = Names.labelValueProblem(values.get(i).asText());
            if (!problem.isEmpty()) {
                errors.invalid(path + ".values[" + i + "]", values.get(i).asText(), problem);
            }
        }
    }

    private static void checkOperator(
            String operator, JsonNode values, String path, FieldErrors errors) {
        switch (operator) {
            case "In", "NotIn" -> {
                if (values.isEmpty()) {
                    errors.required(
                            path + ".values",
                            "must be specified when `operator` is 'In' or 'NotIn'");
                }
            }
            case "Exists", "DoesNotExist" -> {
                if (!values.isEmpty()) {
                    errors.forbidden(
                            path + ".values",
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
                }
            }
            case "Gt", "Lt" -> {
                if (values.size() != 1) {
                    errors.required(
                            path + ".values",
                            "must be specified single value when `operator` is 'Lt' or 'Gt'");
                }
            }
            default -> errors.notSupported(path + ".operator", operator, OPERATORS);
        }
    }

    private static void checkField(JsonNode requirement, String path, FieldErrors errors) {
        String key = requirement.path("key").asText();
        if (!key.equals("metadata.name")) {
            errors.invalid(path + ".key", key, "not a valid field selector key");
        }
        String operator = requirement.path("operator").asText();
        if (!operator.equals("In") && !operator.equals("NotIn")) {
            errors.invalid(path + ".operator", operator, "not a valid selector operator");
        }
        if (requirement.path("values").size() != 1) {
            errors.required(
                    path + ".values",
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field"
                            + " selector");
        }
    }
}
