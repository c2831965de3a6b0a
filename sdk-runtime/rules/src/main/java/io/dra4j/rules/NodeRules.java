// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.ArrayList;
import java.util.List;

/** Validates the node selection of slices and devices. */
final class NodeRules {
    private static final String NO_OPERATOR = "not a valid selector operator";

    private NodeRules() {}

    /**
     * Checks the name, the selector and {@code allNodes} of a slice or a device, and returns which
     * of them choose nodes.
     */
    static List<String> checkChosen(Field parent) {
        List<String> chosen = new ArrayList<>();
        Field name = parent.at("nodeName");
        if (!name.text().isEmpty()) {
            chosen.add("`nodeName`");
            name.requireForm(Names::dnsSubdomainProblems);
        }
        if (parent.at("nodeSelector").present()) {
            chosen.add("`nodeSelector`");
            checkSelector(parent.at("nodeSelector"));
        }
        if (isChosen(parent.at("allNodes"))) {
            chosen.add("`allNodes`");
        }
        return chosen;
    }

    /** Checks that a field is not false, and returns whether it is set. */
    static boolean isChosen(Field field) {
        boolean chosen = field.value().asBoolean();
        field.requireThat(chosen || !field.present(), false, "must be either unset or set to true");
        return chosen;
    }

    /** Checks that a selector has only one term, so that several selectors can be merged. */
    static void requireOneTerm(Field selector) {
        Field terms = selector.at("nodeSelectorTerms");
        if (selector.present() && terms.size() != 1) {
            terms.invalidValue("must have exactly one node selector term");
        }
    }

    static void checkSelector(Field selector) {
        Field terms = selector.at("nodeSelectorTerms");
        if (terms.size() == 0) {
            terms.required("must have at least one node selector term");
        }
        for (Field term : terms.items()) {
            term.at("matchExpressions").items().forEach(NodeRules::checkExpression);
            term.at("matchFields").items().forEach(NodeRules::checkField);
        }
    }

    private static void checkExpression(Field expression) {
        checkOperator(expression.at("operator"), expression.at("values"));
        expression.at("key").requireForm(Names::qualifiedNameProblems);
        for (Field value : expression.at("values").items()) {
            value.requireForm(Names::labelValueProblems);
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
                    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
                }
            }
            case "Gt", "Lt" -> {
                if (values.size() != 1) {
                    values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
                }
            }
            default -> operator.invalid(NO_OPERATOR);
        }
    }

    private static void checkField(Field requirement) {
        Field operator = requirement.at("operator");
        Field values = requirement.at("values");
        if (!List.of("In", "NotIn").contains(operator.text())) {
            operator.invalid(NO_OPERATOR);
        } else if (values.size() != 1) {
            values.required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
        }
        Field key = requirement.at("key");
        if (key.text().equals("metadata.name")) {
            values.items().forEach(value -> value.requireForm(Names::dnsSubdomainProblems));
        } else {
            key.invalid("not a valid field selector key");
        }
    }
}
