// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.parser.CelUnparser;
import dev.cel.parser.CelUnparserFactory;
import dev.cel.runtime.CelEvaluationException;
import io.dra4j.allocator.model.Device;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of an expression that keep it from selecting a device.
 *
 * <p>An expression is split at {@code &&} alone: all of its parts have to be true.
 */
public final class FalseParts {
    private static final String AND = "_&&_";

    private final Compiler compiler = new Compiler(Environment.STORED);
    private final CelUnparser unparser = CelUnparserFactory.newUnparser();

    /**
     * A part that is not true.
     *
     * @param text the part
     * @param values what it reads of the device: names of attributes and capacities, with the
     *     values; empty for what the device does not have
     */
    public record Part(String text, Map<String, Optional<String>> values) {}

    /**
     * Returns the parts that are not true for a device, in their order.
     *
     * @param driver of the device
     * @throws ExpressionException if the expression cannot be compiled
     */
    public List<Part> of(String expression, String driver, Device device) {
        CelAbstractSyntaxTree whole = compiler.compile(expression);
        DeviceVariable variable = new DeviceVariable(driver, device, true);
        List<Part> parts = new ArrayList<>();
        for (CelExpr part : conjuncts(whole.getExpr())) {
            CelAbstractSyntaxTree tree = CelAbstractSyntaxTree.newParsedAst(part, whole.getSource());
            if (!isTrue(tree, variable)) {
                parts.add(new Part(unparser.unparse(tree), values(tree, driver, device)));
            }
        }
        return parts;
    }

    private static List<CelExpr> conjuncts(CelExpr expression) {
        if (expression.getKind() != CelExpr.ExprKind.Kind.CALL
                || !expression.call().function().equals(AND)) {
            return List.of(expression);
        }
        List<CelExpr> all = new ArrayList<>();
        expression.call().args().forEach(one -> all.addAll(conjuncts(one)));
        return all;
    }

    private boolean isTrue(CelAbstractSyntaxTree part, DeviceVariable device) {
        try {
            Map<String, Object> variables = Map.of(Environment.DEVICE, device.fields());
            return Boolean.TRUE.equals(compiler.program(part).eval(variables));
        } catch (CelEvaluationException | ExpressionException | IllegalArgumentException e) {
            return false; // what fails is not true
        }
    }

    private static Map<String, Optional<String>> values(CelAbstractSyntaxTree part, String driver, Device device) {
        Map<String, Optional<String>> values = new LinkedHashMap<>();
        CelNavigableAst.fromAst(part)
                .getRoot()
                .allNodes()
                .forEach(node ->
                        DeviceField.of(node.expr(), driver).ifPresent(one -> values.put(one.name(), one.in(device))));
        return values;
    }
}
