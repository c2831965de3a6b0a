// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/**
 * Compiles the CEL expressions of claims and classes, as a release does with expressions that it has not stored yet.
 */
public interface ExpressionCompiler {

    /** A compiler that never finds a problem, to check objects without CEL. */
    ExpressionCompiler NONE = new ExpressionCompiler() {
        @Override
        public String selectorProblem(String expression) {
            return "";
        }

        @Override
        public String derivedAttributeProblem(String expression) {
            return "";
        }

        @Override
        public boolean exceedsCost(String expression) {
            return false;
        }
    };

    /** Returns the problem of an expression that selects devices; empty if it is valid. */
    String selectorProblem(String expression);

    /** Returns the problem of an expression that computes an attribute; empty if it is valid. */
    String derivedAttributeProblem(String expression);

    /** Returns whether an expression without a problem may cost more than the limit. */
    boolean exceedsCost(String expression);
}
