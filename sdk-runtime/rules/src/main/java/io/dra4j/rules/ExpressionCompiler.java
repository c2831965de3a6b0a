// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/**
 * Compiles the CEL expressions of claims and classes, as a release does with expressions that it
 * has not stored yet. Both methods return the problem of an expression; empty if there is none.
 */
public interface ExpressionCompiler {

    /** Finds no problem: for who checks objects without CEL. */
    ExpressionCompiler NONE =
            new ExpressionCompiler() {
                @Override
                public String selectorProblem(String expression) {
                    return "";
                }

                @Override
                public String derivedAttributeProblem(String expression) {
                    return "";
                }
            };

    /** The problem of an expression that selects devices. */
    String selectorProblem(String expression);

    /** The problem of an expression that computes an attribute of a device. */
    String derivedAttributeProblem(String expression);
}
