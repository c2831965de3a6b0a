// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

/** Shows a value that is not to be trusted in a message: short, and with nothing unprintable. */
final class Printable {

    private static final int LONGEST = 80;

    private Printable() {}

    static String of(String value) {
        String head = value.length() <= LONGEST ? value : value.substring(0, LONGEST) + "…";
        return '"' + head.replaceAll("\\P{Print}", "?") + '"';
    }
}
