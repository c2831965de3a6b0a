// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

/** All faults by their numbers in the catalogue. */
final class Faults {

    private Faults() {}

    static void install(String id, Parts parts) {
        if (!id.isEmpty()) {
            throw new IllegalArgumentException("There is no fault " + id);
        }
    }
}
