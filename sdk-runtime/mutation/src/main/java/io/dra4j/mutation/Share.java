// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.util.Locale;

/** A share of a whole: killed mutants of all mutants, or covered branches of all branches. */
record Share(long part, long whole) {
    /** The tolerance: time limits and machines under load change a few mutants in a thousand. */
    private static final double TOLERATED_POINTS = 0.5;

    boolean isFallenFrom(Share before) {
        return percent() < before.percent() - TOLERATED_POINTS;
    }

    private double percent() {
        return whole == 0 ? 100 : 100.0 * part / whole;
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%.2f %% (%d of %d)", percent(), part, whole);
    }
}
