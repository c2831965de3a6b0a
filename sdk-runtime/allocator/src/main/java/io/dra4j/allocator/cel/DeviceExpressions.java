// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGates;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compiles expressions as the API server of a release does before it stores them.
 *
 * <p>Loads nothing of CEL before the first expression, and remembers what it found of the last
 * ones. Safe for use by many threads; they compile one after the other.
 */
public final class DeviceExpressions implements ExpressionCompiler {
    private static final int REMEMBERED = 1000;

    private final FeatureGates gates;
    private final Map<String, Verdict> verdicts = new Recent();
    private @Nullable NewExpressions expressions;

    /** Made for the API server of the gates' release. */
    public DeviceExpressions(FeatureGates gates) {
        this.gates = gates;
    }

    @Override
    public String selectorProblem(String expression) {
        return verdict(expression).selector();
    }

    @Override
    public String derivedAttributeProblem(String expression) {
        return verdict(expression).attribute();
    }

    @Override
    public boolean exceedsCost(String expression) {
        return verdict(expression).costly();
    }

    private synchronized Verdict verdict(String expression) {
        return verdicts.computeIfAbsent(expression, one -> expressions().judge(one));
    }

    private NewExpressions expressions() {
        if (expressions == null) {
            expressions = new NewExpressions(gates);
        }
        return expressions;
    }

    /** Remembers the expressions that were compiled last. */
    private static final class Recent extends LinkedHashMap<String, Verdict> {
        private static final long serialVersionUID = 1;

        Recent() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Verdict> eldest) {
            return size() > REMEMBERED;
        }
    }
}
