// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The test classes that have killed the mutant under test.
 *
 * <p>PIT runs fast tests first. Once tests of several classes have killed a mutant, running the rest takes hours and
 * adds nothing: neither a single test nor a single class is the only killer.
 */
final class Killers {
    private static final int ENOUGH = Integer.getInteger("mutation.killers", 3);

    /** Null before the first mutant, while tests run to record their coverage. */
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
