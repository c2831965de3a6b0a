// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.DOUBLE;
import static dev.cel.common.types.SimpleType.INT;
import static io.dra4j.allocator.cel.Types.QUANTITY;

import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.rules.Quantities;
import java.math.BigDecimal;

/**
 * A Kubernetes quantity in a CEL expression.
 *
 * @param value without trailing zeros, so that equal quantities are equal
 */
record CelQuantity(BigDecimal value) implements Comparable<CelQuantity> {

    CelQuantity {
        value = value.stripTrailingZeros();
    }

    static CelQuantity parse(String text) {
        String problem = Quantities.problem(TextNode.valueOf(text));
        if (!problem.isEmpty() || !text.equals(text.strip())) {
            throw new IllegalArgumentException(problem);
        }
        return new CelQuantity(Quantities.exact(text));
    }

    @Override
    public int compareTo(CelQuantity other) {
        return value.compareTo(other.value);
    }

    private boolean isInteger() {
        return value.scale() <= 0 && value.toBigInteger().bitLength() < Long.SIZE;
    }

    private long asInteger() {
        if (!isInteger()) {
            throw new IllegalArgumentException("cannot convert value to integer");
        }
        return value.longValue();
    }

    private CelQuantity plus(BigDecimal other) {
        return new CelQuantity(value.add(other));
    }

    static void addTo(Functions functions) {
        functions
                .parser(
                        "quantity",
                        "string_to_quantity",
                        "isQuantity",
                        "is_quantity_string",
                        QUANTITY,
                        CelQuantity::parse)
                .global("sign", "quantity_sign", INT, a -> (long) of(a, 0).signum(), QUANTITY)
                .member("isInteger", "quantity_is_integer", BOOL, a -> at(a).isInteger(), QUANTITY)
                .member("asInteger", "quantity_get_int", INT, a -> at(a).asInteger(), QUANTITY)
                .member("asApproximateFloat", "quantity_get_float", DOUBLE, a -> of(a, 0).doubleValue(), QUANTITY);
        addArithmetic(functions);
        functions.comparisons("quantity", QUANTITY);
    }

    private static void addArithmetic(Functions functions) {
        functions
                .member("add", "quantity_add", QUANTITY, CelQuantity::sum, QUANTITY, QUANTITY)
                .member("add", "quantity_add_int", QUANTITY, CelQuantity::sum, QUANTITY, INT)
                .member("sub", "quantity_sub", QUANTITY, CelQuantity::difference, QUANTITY, QUANTITY)
                .member("sub", "quantity_sub_int", QUANTITY, CelQuantity::difference, QUANTITY, INT);
    }

    private static Object sum(Object[] arguments) {
        return at(arguments).plus(of(arguments, 1));
    }

    private static Object difference(Object[] arguments) {
        return at(arguments).plus(of(arguments, 1).negate());
    }

    private static CelQuantity at(Object[] arguments) {
        return (CelQuantity) arguments[0];
    }

    private static BigDecimal of(Object[] arguments, int index) {
        return arguments[index] instanceof CelQuantity quantity
                ? quantity.value
                : BigDecimal.valueOf((Long) arguments[index]);
    }
}
