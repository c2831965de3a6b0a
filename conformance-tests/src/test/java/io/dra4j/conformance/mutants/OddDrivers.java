// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

/** Drivers that are unusual, and right. */
final class OddDrivers {

    private OddDrivers() {}

    static void install(String id, Parts parts) {
        if (!id.isEmpty()) {
            throw new IllegalArgumentException("There is no odd driver " + id);
        }
    }
}
