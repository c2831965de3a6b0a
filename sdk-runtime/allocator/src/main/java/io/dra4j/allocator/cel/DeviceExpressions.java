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
    private final Map<String, String> selectors = new Recent();
    private final Map<String, String> attributes = new Recent();
    private @Nullable NewExpressions expressions;

    /** Made for the API server of the gates' release. */
    public DeviceExpressions(FeatureGates gates) {
        this.gates = gates;
    }

    @Override
    public synchronized String selectorProblem(String expression) {
        return selectors.computeIfAbsent(expression, one -> expressions().ofSelector(one));
    }

    @Override
    public synchronized String derivedAttributeProblem(String expression) {
        return attributes.computeIfAbsent(expression, one -> expressions().ofAttribute(one));
    }

    private NewExpressions expressions() {
        if (expressions == null) {
            expressions = new NewExpressions(gates);
        }
        return expressions;
    }

    /** The problems of the expressions that were compiled last. */
    private static final class Recent extends LinkedHashMap<String, String> {
        private static final long serialVersionUID = 1;

        Recent() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > REMEMBERED;
        }
    }
}
