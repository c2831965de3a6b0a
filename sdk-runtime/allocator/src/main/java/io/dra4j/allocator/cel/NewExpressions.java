// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.types.CelKind;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.util.Set;
import java.util.function.Function;

/**
 * Finds what is wrong with an expression that an API server did not store yet; empty if nothing is.
 *
 * <p>A release takes the functions that the one before it has, so that an upgrade can be undone.
 * What a feature gate brings is there as soon as the gate is on.
 */
final class NewExpressions {
    private static final Set<CelType> SCALARS =
            Set.of(
                    SimpleType.BOOL,
                    SimpleType.INT,
                    SimpleType.STRING,
                    SimpleType.ANY,
                    SimpleType.DYN,
                    Types.SEMVER);
    private static final String VALUES = "a primitive scalar (string, integer, boolean, semver)";

    private final Compiler compiler;
    private final boolean lists;
    private final boolean exactType;

    NewExpressions(FeatureGates gates) {
        lists = gates.enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES);
        exactType = gates.version().atLeast(KubernetesVersion.V1_37);
        compiler =
                new Compiler(
                        new Environment(
                                gates.enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY),
                                lists,
                                gates.version().atLeast(KubernetesVersion.V1_35)));
    }

    String ofSelector(String expression) {
        return problem(
                expression,
                type ->
                        type.equals(SimpleType.BOOL) || isAttribute(type)
                                ? ""
                                : "must evaluate to bool or the unknown type, not "
                                        + Types.text(type));
    }

    /** Before 1.37, the type of attributes without lists is taken with lists, too. */
    private boolean isAttribute(CelType type) {
        boolean ofLists = lists && type.equals(SimpleType.DYN);
        return ofLists || type.equals(SimpleType.ANY) && !(lists && exactType);
    }

    String ofAttribute(String expression) {
        String values = lists ? VALUES + " or a list of these scalars" : VALUES;
        return problem(
                expression,
                type ->
                        SCALARS.contains(type) || lists && isList(type)
                                ? ""
                                : "must evaluate to " + values + ", not " + Types.text(type));
    }

    private static boolean isList(CelType type) {
        return type.kind() == CelKind.LIST && SCALARS.contains(type.parameters().get(0));
    }

    private String problem(String expression, Function<CelType, String> ofType) {
        try {
            return ofType.apply(compiler.compile(expression).getResultType());
        } catch (ExpressionException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
