// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The test classes that have killed the mutant under test.
 *
 * <p>PIT runs fast tests first. Once tests of several classes have killed a mutant, the rest adds hours and decides
 * nothing: none of them is the only one, and no class is.
 */
final class Killers {
    private static final int ENOUGH = Integer.getInteger("mutation.killers", 3);

    /** Null before the first mutant: then tests run to learn what they cover. */
    private @Nullable Set<Class<?>> classes;

    void nextMutant() {
        classes = new HashSet<>();
    }

    void add(Class<?> type) {
        if (classes != null) {
            classes.add(type);
        }
    }

    boolean areEnough() {
        return classes != null && classes.size() >= ENOUGH;
    }
}
