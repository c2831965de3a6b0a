// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** Rules for CEL expressions: their length, that they compile, and their cost. */
record ExpressionRules(ExpressionCompiler compiler) {
    private static final int LENGTH = 10 * 1024;

    void checkSelectors(Field selectors) {
        for (Field selector : selectors.items()) {
            Field cel = selector.at("cel");
            if (cel.present()) {
                check(cel.at("expression"), compiler::selectorProblem);
            } else {
                cel.required("");
            }
        }
    }

    void checkDerivedAttribute(Field expression) {
        if (expression.requireText()) {
            check(expression, compiler::derivedAttributeProblem);
        }
    }

    private void check(Field expression, UnaryOperator<String> problem) {
        if (expression.text().getBytes(StandardCharsets.UTF_8).length > LENGTH) {
            expression.errors().tooLong(expression.path(), LENGTH);
        } else {
            String found = problem.apply(expression.text());
            expression.requireThat(found.isEmpty(), found);
            if (found.isEmpty() && compiler.exceedsCost(expression.text())) {
                expression.forbidden("too complex, exceeds cost limit");
            }
        }
    }
}
