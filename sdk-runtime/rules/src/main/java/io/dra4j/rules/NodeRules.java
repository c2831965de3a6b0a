// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.List;

/** Validates the node selection of slices and devices. */
final class NodeRules {
    private static final List<String> OPERATORS =
            List.of("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn");

    private NodeRules() {}

    /**
     * Checks the name, the selector and {@code allNodes} of a slice or a device.
     *
     * @param exactTerms the number of terms of the selector; 0 for at least one
     */
    static void check(Field parent, int exactTerms) {
        Field name = parent.at("nodeName");
        if (name.present() && name.text().isEmpty()) {
            name.invalid("must be either unset or set to a non-empty string");
        } else if (name.present()) {
            name.requireForm(Names::dnsSubdomainProblem);
        }
        checkSelector(parent.at("nodeSelector"), exactTerms);
        checkTrueOrUnset(parent.at("allNodes"));
    }

    static void checkTrueOrUnset(Field field) {
        boolean fits = !field.present() || field.value().asBoolean();
        field.requireThat(fits, false, "must be either unset or set to true");
    }

    static void checkSelector(Field selector, int exactTerms) {
        if (!selector.present()) {
            return;
        }
        Field terms = selector.at("nodeSelectorTerms");
        if (terms.size() == 0) {
            terms.required("must have at least one node selector term");
        } else if (exactTerms > 0 && terms.size() != exactTerms) {
            terms.invalid(terms.size(), "must have exactly one node selector term");
        }
        for (Field term : terms.items()) {
            term.at("matchExpressions").items().forEach(NodeRules::checkExpression);
            term.at("matchFields").items().forEach(NodeRules::checkField);
        }
    }

    private static void checkExpression(Field expression) {
        expression.at("key").requireForm(Names::qualifiedNameProblem);
        checkOperator(expression.at("operator"), expression.at("values"));
        for (Field value : expression.at("values").items()) {
            value.requireForm(Names::labelValueProblem);
        }
    }

    private static void checkOperator(Field operator, Field values) {
        switch (operator.text()) {
            case "In", "NotIn" -> {
                if (values.size() == 0) {
                    values.required("must be specified when `operator` is 'In' or 'NotIn'");
                }
            }
            case "Exists", "DoesNotExist" -> {
                if (values.size() > 0) {
                    values.forbidden(
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
                }
            }
            case "Gt", "Lt" -> {
                if (values.size() != 1) {
                    values.required(
                            "must be specified single value when `operator` is 'Lt' or 'Gt'");
                }
            }
            default -> operator.requireOneOf(OPERATORS);
        }
    }

    private static void checkField(Field requirement) {
        Field key = requirement.at("key");
        key.requireThat(key.text().equals("metadata.name"), "not a valid field selector key");
        Field operator = requirement.at("operator");
        boolean known = List.of("In", "NotIn").contains(operator.text());
        operator.requireThat(known, "not a valid selector operator");
        Field values = requirement.at("values");
        if (values.size() != 1) {
            values.required(
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
        }
    }
}
