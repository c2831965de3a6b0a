// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

/** The beginning or the end of a text that is too long to show, with a note about the rest. */
final class Excerpt {

    private Excerpt() {}

    static String head(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most;
        return text.substring(0, end) + "\n… (" + rest(text.length() - end) + " more)";
    }

    /** The text, or its last {@code most} characters, from the beginning of a line if there is one. */
    static String tail(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        int begin = text.length() - most;
        int line = text.indexOf('\n', begin) + 1;
        if (line > 0 && line < begin + most / 2) {
            begin = line;
        } else if (Character.isLowSurrogate(text.charAt(begin))) {
            begin++;
        }
        return "… (" + rest(begin) + " before)\n" + text.substring(begin);
    }

    /** The first line of a text, and no more than {@code most} characters of it. */
    static String line(String text, int most) {
        String first = text.strip().lines().findFirst().orElse("");
        return first.length() <= most
                ? first
                : head(first, most).lines().findFirst().orElse("") + "…";
    }

    private static String rest(int characters) {
        return characters < 10_000 ? characters + " characters" : characters / 1000 + " kB";
    }
}
