// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;

import dev.cel.common.types.CelType;

/** The three functions that compare two values of one type. */
final class Comparisons {
    private Comparisons() {}

    /**
     * @param prefix of the names of the overloads
     */
    static void addTo(Functions functions, String prefix, CelType type) {
        functions
                .member("isGreaterThan", prefix + "_is_greater_than", BOOL, a -> compared(a) > 0, type, type)
                .member("isLessThan", prefix + "_is_less_than", BOOL, a -> compared(a) < 0, type, type)
                .member("compareTo", prefix + "_compare_to", INT, a -> (long) Integer.signum(compared(a)), type, type);
    }

    @SuppressWarnings("unchecked")
    private static int compared(Object[] arguments) {
        return ((Comparable<Object>) arguments[0]).compareTo(arguments[1]);
    }
}
