// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.SEMVER;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A version in a CEL expression, by Semantic Versioning 2.0.0; build metadata does not count.
 *
 * @param core major, minor and patch
 * @param preRelease the identifiers after the hyphen; none for a release
 */
record SemanticVersion(List<Long> core, List<String> preRelease) implements Comparable<SemanticVersion> {

    private static final String NUMERIC = "(0|[1-9]\\d*)";

    /** The longer form comes first, because a matched part is not tried again: so text of any length fits the stack. */
    private static final String IDENTIFIER = "(?:\\d*[A-Za-z-][0-9A-Za-z-]*|0|[1-9]\\d*)";

    private static final Pattern FORM = Pattern.compile(NUMERIC
            + "\\."
            + NUMERIC
            + "\\."
            + NUMERIC
            + "(?:-(%s(?:\\.%s)*+))?".formatted(IDENTIFIER, IDENTIFIER)
            + "(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*+)?");
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    static SemanticVersion parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is not a semantic version");
        }
        List<Long> core = IntStream.rangeClosed(1, 3)
                .mapToObj(i -> Long.parseUnsignedLong(matcher.group(i)))
                .toList();
        String rest = matcher.group(4);
        List<String> identifiers = rest == null ? List.of() : List.of(rest.split("\\."));
        // Kubernetes' parser refuses numbers beyond 64 bits.
        identifiers.stream().filter(NUMBER.asMatchPredicate()).forEach(Long::parseUnsignedLong);
        return new SemanticVersion(core, identifiers);
    }

    /** Removes a leading v and leading zeros, and adds the minor and the patch that are missing. */
    private static SemanticVersion normalized(String text) {
        String[] parts = (text.startsWith("v") ? text.substring(1) : text).split("\\.", 3);
        for (int i = 0; i < parts.length; i++) {
            parts[i] = parts[i].replaceFirst("^0+(?=\\d)", "");
        }
        String[] all = Arrays.copyOf(parts, 3);
        Arrays.fill(all, parts.length, 3, "0");
        return parse(String.join(".", all));
    }

    static void addTo(Functions functions) {
        functions
                .global("semver", "string_to_semver", SEMVER, SemanticVersion::made, STRING)
                .global("semver", "string_bool_to_semver", SEMVER, SemanticVersion::made, STRING, BOOL)
                .global("isSemver", "is_semver_string", BOOL, SemanticVersion::isOne, STRING)
                .global("isSemver", "is_semver_string_bool", BOOL, SemanticVersion::isOne, STRING, BOOL)
                .member("major", "semver_major", INT, a -> part(a, 0), SEMVER)
                .member("minor", "semver_minor", INT, a -> part(a, 1), SEMVER)
                .member("patch", "semver_patch", INT, a -> part(a, 2), SEMVER);
        functions.comparisons("semver", SEMVER);
    }

    private static Object made(Object[] arguments) {
        String text = (String) arguments[0];
        boolean normalize = arguments.length > 1 && (Boolean) arguments[1];
        return normalize ? normalized(text) : parse(text);
    }

    private static Object isOne(Object[] arguments) {
        return Functions.succeeds(() -> made(arguments));
    }

    private static Object part(Object[] arguments, int index) {
        return ((SemanticVersion) arguments[0]).core.get(index);
    }

    @Override
    public int compareTo(SemanticVersion other) {
        int byCore = Arrays.compareUnsigned(numbers(), other.numbers());
        if (byCore != 0) {
            return byCore;
        }
        if (preRelease.isEmpty() || other.preRelease.isEmpty()) {
            return Boolean.compare(preRelease.isEmpty(), other.preRelease.isEmpty());
        }
        return Arrays.compare(preRelease.toArray(String[]::new), other.preRelease.toArray(String[]::new), IDENTIFIERS);
    }

    private long[] numbers() {
        return core.stream().mapToLong(each -> each).toArray();
    }

    /** Numbers come before words, and are compared as numbers. */
    private static final Comparator<String> IDENTIFIERS = (one, other) -> {
        boolean number = NUMBER.matcher(one).matches();
        boolean otherNumber = NUMBER.matcher(other).matches();
        if (number && otherNumber) {
            return Long.compareUnsigned(Long.parseUnsignedLong(one), Long.parseUnsignedLong(other));
        }
        return number == otherNumber ? one.compareTo(other) : number ? -1 : 1;
    };
}
