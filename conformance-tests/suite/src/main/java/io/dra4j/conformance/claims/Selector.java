// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelMutableAst;
import dev.cel.common.CelValidationException;
import dev.cel.common.ast.CelMutableExpr;
import dev.cel.common.navigation.CelNavigableMutableAst;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A CEL expression of a class or a request that selects devices.
 *
 * <p>As for a scheduler, what fails to evaluate is not just a device that does not match.
 */
final class Selector {

    private static final String INDEX = "_[_]";
    private static final Set<String> BY_DOMAIN = Set.of("attributes", "capacity");

    private final String expression;
    private final String owner;
    private final CelRuntime.Program program;

    private Selector(String expression, String owner, CelRuntime.Program program) {
        this.expression = expression;
        this.owner = owner;
        this.program = program;
    }

    /** The selectors of a class or a request. */
    static List<Selector> all(JsonNode spec, String owner) {
        return Cluster.elements(spec.path("selectors")).stream()
                .map(one -> compile(one.at("/cel/expression").asText(), owner))
                .toList();
    }

    /**
     * Compiles an expression.
     *
     * @param owner what has it, for messages, for example {@code DeviceClass gpu.example.com}
     * @throws SettingsException if it cannot be compiled
     */
    static Selector compile(String expression, String owner) {
        try {
            CelAbstractSyntaxTree parsed = DeviceExpressions.COMPILER.parse(expression).getAst();
            CelAbstractSyntaxTree checked =
                    DeviceExpressions.COMPILER.check(lenient(parsed)).getAst();
            return new Selector(
                    expression, owner, DeviceExpressions.RUNTIME.createProgram(checked));
        } catch (CelValidationException | CelEvaluationException e) {
            throw failure(owner, expression, "cannot be compiled", e);
        }
    }

    /** A domain that no attribute has is an empty map for Kubernetes, and not an error. */
    private static CelAbstractSyntaxTree lenient(CelAbstractSyntaxTree parsed) {
        CelMutableAst mutable = CelMutableAst.fromCelAst(parsed);
        CelNavigableMutableAst.fromAst(mutable)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .filter(Selector::isDomain)
                .forEach(expr -> expr.call().setFunction(DeviceExpressions.DOMAIN));
        return mutable.toParsedAst();
    }

    private static boolean isDomain(CelMutableExpr expr) {
        return expr.getKind() == dev.cel.common.ast.CelExpr.ExprKind.Kind.CALL
                && expr.call().function().equals(INDEX)
                && isByDomain(expr.call().args().get(0));
    }

    private static boolean isByDomain(CelMutableExpr expr) {
        return expr.getKind() == dev.cel.common.ast.CelExpr.ExprKind.Kind.SELECT
                && BY_DOMAIN.contains(expr.select().field());
    }

    /**
     * Returns whether a device may be allocated.
     *
     * @throws SettingsException if the expression fails, or is neither true nor false
     */
    boolean matches(Candidate device) {
        try {
            Object value =
                    program.eval(
                            Map.of(DeviceExpressions.DEVICE, DeviceExpressions.variable(device)));
            if (value instanceof Boolean matches) {
                return matches;
            }
        } catch (CelEvaluationException | IllegalArgumentException e) {
            throw failure(owner, expression, "fails on device " + device.key(), e);
        }
        throw new SettingsException(
                "driver.claims: the CEL expression of %s is neither true nor false for device %s: %s"
                        .formatted(owner, device.key(), expression));
    }

    private static SettingsException failure(
            String owner, String expression, String what, Exception e) {
        String first = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        return new SettingsException(
                "driver.claims: the CEL expression of %s %s (%s): %s"
                        .formatted(owner, what, first, expression));
    }
}
