// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version in a CEL expression, by Semantic Versioning 2.0.0; build metadata does not count.
 *
 * @param core major, minor and patch
 * @param preRelease the identifiers after the hyphen; none for a release
 */
record SemanticVersion(List<Long> core, List<String> preRelease)
        implements Comparable<SemanticVersion> {

    private static final Pattern FORM =
            Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?");
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    /**
     * @throws IllegalArgumentException if it is no version
     */
    static SemanticVersion parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is no semantic version");
        }
        List<Long> core =
                List.of(
                        Long.parseLong(matcher.group(1)),
                        Long.parseLong(matcher.group(2)),
                        Long.parseLong(matcher.group(3)));
        String rest = matcher.group(4);
        return new SemanticVersion(core, rest == null ? List.of() : List.of(rest.split("\\.")));
    }

    @Override
    public int compareTo(SemanticVersion other) {
        for (int i = 0; i < core.size(); i++) {
            int part = core.get(i).compareTo(other.core.get(i));
            if (part != 0) {
                return part;
            }
        }
        if (preRelease.isEmpty() || other.preRelease.isEmpty()) {
            return Boolean.compare(preRelease.isEmpty(), other.preRelease.isEmpty());
        }
        for (int i = 0; i < Math.min(preRelease.size(), other.preRelease.size()); i++) {
            int part = IDENTIFIERS.compare(preRelease.get(i), other.preRelease.get(i));
            if (part != 0) {
                return part;
            }
        }
        return Integer.compare(preRelease.size(), other.preRelease.size());
    }

    /** Numbers come before words, and are compared as numbers. */
    private static final Comparator<String> IDENTIFIERS =
            (one, other) -> {
                boolean number = NUMBER.matcher(one).matches();
                boolean otherNumber = NUMBER.matcher(other).matches();
                if (number && otherNumber) {
                    return Long.compare(Long.parseLong(one), Long.parseLong(other));
                }
                return number == otherNumber ? one.compareTo(other) : number ? -1 : 1;
            };
}
