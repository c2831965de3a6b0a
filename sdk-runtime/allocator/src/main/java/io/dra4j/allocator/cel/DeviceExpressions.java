// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compiles expressions as the API server of a release does before it stores them.
 *
 * <p>Loads CEL classes only with the first expression, and caches the results. Thread-safe; threads compile one
 * after another.
 */
public final class DeviceExpressions implements ExpressionCompiler {
    private static final int REMEMBERED = 1000;

    private final FeatureGates gates;
    private final Map<String, Verdict> verdicts = new HashMap<>(); // cleared when it is full
    private @Nullable NewExpressions expressions;

    /** Creates a compiler for the API server of the gates' release. */
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
        if (verdicts.size() >= REMEMBERED && !verdicts.containsKey(expression)) {
            verdicts.clear();
        }
        return verdicts.computeIfAbsent(expression, one -> expressions().judge(one));
    }

    private NewExpressions expressions() {
        if (expressions == null) {
            expressions = new NewExpressions(gates);
        }
        return expressions;
    }

    /**
     * Finds problems of expressions that an API server has not stored yet.
     *
     * <p>A release accepts only the functions that its predecessor has, so that an upgrade can be rolled back. Features
     * behind a gate are available as soon as the gate is on.
     */
    private static final class NewExpressions {
        private static final Set<CelType> SCALARS = Set.of(
                SimpleType.BOOL, SimpleType.INT, SimpleType.STRING, SimpleType.ANY, SimpleType.DYN, Types.SEMVER);
        private static final String VALUES = "a primitive scalar (string, integer, boolean, semver)";

        private final Compiler compiler;
        private final boolean lists;
        private final boolean exactType;

        NewExpressions(FeatureGates gates) {
            lists = gates.enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES);
            exactType = gates.version().atLeast(KubernetesVersion.V1_37);
            compiler = new Compiler(new Environment(
                    gates.enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY),
                    lists,
                    gates.version().atLeast(KubernetesVersion.V1_35)));
        }

        Verdict judge(String expression) {
            try {
                CelAbstractSyntaxTree compiled = compiler.compile(expression);
                CelType type = compiled.getResultType();
                return new Verdict(ofSelector(type), ofAttribute(type), Cost.least(compiled.getExpr()) > Cost.LIMIT);
            } catch (ExpressionException e) {
                String problem = String.valueOf(e.getMessage());
                return new Verdict(problem, problem, false);
            }
        }

        private String ofSelector(CelType type) {
            return type.equals(SimpleType.BOOL) || isAttribute(type)
                    ? ""
                    : "must evaluate to bool or the unknown type, not " + Types.text(type);
        }

        /** Before 1.37, the type of attributes without lists is also accepted with lists. */
        private boolean isAttribute(CelType type) {
            boolean ofLists = lists && type.equals(SimpleType.DYN);
            return ofLists || type.equals(SimpleType.ANY) && !(lists && exactType);
        }

        private String ofAttribute(CelType type) {
            if (SCALARS.contains(type) || lists && isList(type)) {
                return "";
            }
            String values = lists ? VALUES + " or a list of these scalars" : VALUES;
            return "must evaluate to " + values + ", not " + Types.text(type);
        }

        private static boolean isList(CelType type) {
            return type.kind() == CelKind.LIST
                    && SCALARS.contains(type.parameters().get(0));
        }
    }

    /** The problems of an expression, each empty if it does not exist. */
    private record Verdict(String selector, String attribute, boolean costly) {}
}
