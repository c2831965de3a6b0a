// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.parser.CelUnparser;
import dev.cel.parser.CelUnparserFactory;
import dev.cel.runtime.CelEvaluationException;
import io.dra4j.allocator.model.Device;
import io.dra4j.rules.OwnNames;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the parts of an expression that keep it from selecting a device.
 *
 * <p>An expression is split only at {@code &&}, so that all of its parts have to be true.
 */
public final class FalseParts {
    private static final String AND = "_&&_";

    private final Compiler compiler = new Compiler(Environment.STORED);
    private final CelUnparser unparser = CelUnparserFactory.newUnparser();

    /**
     * A part that is not true.
     *
     * @param values the attributes and capacities that it reads, by name; a value is empty if the device does not have
     *     it
     */
    public record Part(String text, Map<String, Optional<String>> values) {}

    /** Returns the parts that are not true for a device, in their order. */
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

    /**
     * A field of a device that an expression reads.
     *
     * @param map {@code attributes} or {@code capacity}
     * @param name the name as in a slice: with its domain, unless that is the driver
     */
    private record DeviceField(String map, String name, OwnNames names) {
        private static final String ATTRIBUTES = "attributes";
        private static final Set<String> MAPS = Set.of(ATTRIBUTES, "capacity");

        /** The functions that look up a map entry, with and without an optional result. */
        private static final Set<String> INDEXES = Set.of("_[_]", "_[?_]", "_?._");

        /** A step from an operand to one of its fields. */
        private record Step(CelExpr operand, String field) {}

        static Optional<DeviceField> of(CelExpr expression, String driver) {
            return step(expression).flatMap(id -> step(id.operand()).flatMap(domain -> of(domain, id.field(), driver)));
        }

        private static Optional<DeviceField> of(Step domain, String id, String driver) {
            return step(domain.operand())
                    .filter(map -> MAPS.contains(map.field()) && isDevice(map.operand()))
                    .map(map -> {
                        OwnNames names = new OwnNames(driver);
                        return new DeviceField(map.field(), names.bare(domain.field() + "/" + id), names);
                    });
        }

        private static boolean isDevice(CelExpr expression) {
            return expression.getKind() == CelExpr.ExprKind.Kind.IDENT
                    && expression.ident().name().equals(Environment.DEVICE);
        }

        private static Optional<Step> step(CelExpr expression) {
            return switch (expression.getKind()) {
                case SELECT ->
                    Optional.of(new Step(
                            expression.select().operand(), expression.select().field()));
                case CALL -> index(expression.call());
                default -> Optional.empty();
            };
        }

        private static Optional<Step> index(CelExpr.CelCall call) {
            List<CelExpr> args = call.args();
            return INDEXES.contains(call.function())
                            && args.size() == 2
                            && args.get(1).getKind() == CelExpr.ExprKind.Kind.CONSTANT
                            && args.get(1).constant().getKind() == CelConstant.Kind.STRING_VALUE
                    ? Optional.of(new Step(args.get(0), args.get(1).constant().stringValue()))
                    : Optional.empty();
        }

        /** Returns the value that a device has, as text. */
        Optional<String> in(Device device) {
            return map.equals(ATTRIBUTES)
                    ? names.find(device.attributes(), name).map(Object::toString)
                    : names.find(device.capacity(), name).map(one -> one.value().toString());
        }
    }
}
