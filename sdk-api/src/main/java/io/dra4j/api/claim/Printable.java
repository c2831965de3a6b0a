// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

/** Formats an untrusted value for a message, truncated and without unprintable characters. */
final class Printable {

    private static final int LONGEST = 80;

    private Printable() {}

    static String of(String value) {
        String head = value.length() <= LONGEST ? value : value.substring(0, LONGEST) + "…";
        return '"' + head.replaceAll("\\P{Print}", "?") + '"';
    }
}
