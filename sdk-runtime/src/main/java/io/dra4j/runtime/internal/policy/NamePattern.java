// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import java.util.regex.Pattern;

/**
 * A name, in which {@code *} stands for any text and {@code ?} for any character.
 *
 * <p>Names of devices and nodes have lower-case letters, digits, hyphens and, for nodes, dots: other characters could
 * never match.
 */
record NamePattern(String text) {

    private static final Pattern FORM = Pattern.compile("[-a-z0-9.*?]{1,253}");

    NamePattern {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    ("\"%s\" matches no name: use lower-case letters, digits, '-' and '.', with '*'"
                                    + " for any text and '?' for any character")
                            .formatted(text.length() > 253 ? text.substring(0, 253) : text));
        }
    }

    boolean isForAll() {
        return text.chars().allMatch(c -> c == '*');
    }

    /** Backtracks only to the last star, so that no pattern takes long. */
    boolean matches(String name) {
        int p = 0;
        int n = 0;
        int star = -1;
        int mark = 0;
        while (n < name.length()) {
            if (p < text.length() && text.charAt(p) == '*') {
                star = p++;
                mark = n;
            } else if (p < text.length() && isSame(text.charAt(p), name.charAt(n))) {
                p++;
                n++;
            } else if (star >= 0) {
                p = star + 1;
                n = ++mark;
            } else {
                return false;
            }
        }
        return text.substring(p).chars().allMatch(c -> c == '*');
    }

    private static boolean isSame(char inPattern, char inName) {
        return inPattern == '?' || inPattern == inName;
    }
}
