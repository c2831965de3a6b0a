// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelMutableAst;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelMutableExpr;
import dev.cel.common.ast.CelMutableExpr.CelMutableCall;
import dev.cel.common.navigation.CelNavigableMutableAst;
import java.util.Set;

/** A domain that no attribute has is an empty map for Kubernetes, and not an error. */
final class Domains {
    private static final String INDEX = "_[_]";
    private static final Set<String> BY_DOMAIN = Set.of("attributes", "capacity");

    private Domains() {}

    /**
     * Replaces each index and each field of {@code attributes} and {@code capacity}; types are to
     * be checked.
     */
    static CelAbstractSyntaxTree optional(CelAbstractSyntaxTree compiled) {
        CelMutableAst mutable = CelMutableAst.fromCelAst(compiled);
        CelNavigableMutableAst.fromAst(mutable)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .toList()
                .forEach(Domains::replace);
        return mutable.toParsedAst();
    }

    private static void replace(CelMutableExpr expr) {
        if (isDomain(expr)) {
            expr.call().setFunction(Environment.DOMAIN);
        } else if (isField(expr)) {
            CelMutableExpr domain =
                    CelMutableExpr.ofConstant(CelConstant.ofValue(expr.select().field()));
            expr.setCall(CelMutableCall.create(Environment.DOMAIN, expr.select().operand(), domain));
        }
    }

    private static boolean isField(CelMutableExpr expr) {
        return expr.getKind() == CelExpr.ExprKind.Kind.SELECT
                && !expr.select().testOnly()
                && isByDomain(expr.select().operand());
    }

    private static boolean isDomain(CelMutableExpr expr) {
        return expr.getKind() == CelExpr.ExprKind.Kind.CALL
                && expr.call().function().equals(INDEX)
                && isByDomain(expr.call().args().get(0));
    }

    private static boolean isByDomain(CelMutableExpr expr) {
        return expr.getKind() == CelExpr.ExprKind.Kind.SELECT
                && BY_DOMAIN.contains(expr.select().field());
    }
}
