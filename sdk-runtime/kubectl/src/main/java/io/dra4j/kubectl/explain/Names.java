// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import java.util.Collection;
import java.util.stream.Collectors;

/** Writes lists of names, not too long. */
final class Names {
    /** The most names of a line. */
    static final int MOST = 5;

    private Names() {}

    /** The first names, and how many more there are. */
    static String some(Collection<String> names) {
        String first = names.stream().limit(MOST).collect(Collectors.joining(", "));
        return names.size() <= MOST
                ? first
                : first + " and %,d more".formatted(names.size() - MOST);
    }

    /** A number with its noun; the plural has an s. */
    static String count(long number, String noun) {
        return number == 1 ? "1 " + noun : "%,d %ss".formatted(number, noun);
    }
}
