// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import java.util.function.Supplier;

/** Checks whether a string can be parsed. */
final class Checks {
    private Checks() {}

    /** Returns whether a parser succeeds. */
    static boolean succeeds(Supplier<?> parser) {
        try {
            parser.get();
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
