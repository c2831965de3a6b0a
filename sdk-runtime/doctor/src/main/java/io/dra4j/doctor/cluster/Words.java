// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

/** Formats numbers of things in a fact. */
final class Words {

    private Words() {}

    static String number(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
