// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** Rules for CEL expressions, which are not compiled. */
final class ExpressionRules {
    private static final int LENGTH = 10 * 1024;

    private ExpressionRules() {}

    static void check(Field expression) {
        if (expression.requireText()) {
            expression.requireLength(LENGTH);
        }
    }
}
