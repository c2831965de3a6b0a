// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import io.dra4j.rules.Quantities;
import java.math.BigDecimal;

/**
 * A Kubernetes quantity in a CEL expression.
 *
 * @param value without trailing zeros, so that equal quantities are equal
 */
record Quantity(BigDecimal value) implements Comparable<Quantity> {

    Quantity {
        value = value.stripTrailingZeros();
    }

    /**
     * @throws IllegalArgumentException if it is no quantity
     */
    static Quantity parse(String text) {
        return new Quantity(Quantities.exact(text));
    }

    @Override
    public int compareTo(Quantity other) {
        return value.compareTo(other.value);
    }
}
