// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Rules for UUIDs: forms that the server can read but does not want have a problem of their own.
 */
final class UuidRules {
    private static final int LENGTH = 36;
    private static final String URN = "urn:uuid:";
    private static final Pattern HYPHENS = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
    private static final Pattern NO_HYPHENS = Pattern.compile("[0-9a-fA-F]{32}");

    private UuidRules() {}

    static List<String> problems(String text) {
        String unreadable = unreadable(text);
        if (!unreadable.isEmpty()) {
            return List.of("error validating uid: " + unreadable);
        }
        boolean normal = text.length() == LENGTH && text.equals(text.toLowerCase(Locale.ROOT));
        return normal
                ? List.of()
                : List.of("uid must be in RFC 4122 normalized form,"
                        + " `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal"
                        + " characters");
    }

    private static String unreadable(String text) {
        return switch (Names.bytes(text)) {
            case LENGTH -> formProblem(HYPHENS, text);
            case LENGTH + 9 ->
                text.regionMatches(true, 0, URN, 0, URN.length())
                        ? formProblem(HYPHENS, text.substring(URN.length()))
                        : "invalid urn prefix: " + QuotedText.of(text.substring(0, 9));
            case LENGTH + 2 ->
                text.startsWith("{") && text.endsWith("}")
                        ? formProblem(HYPHENS, text.substring(1, text.length() - 1))
                        : "invalid bracketed UUID format";
            case LENGTH - 4 -> formProblem(NO_HYPHENS, text);
            default -> "invalid UUID length: " + Names.bytes(text);
        };
    }

    private static String formProblem(Pattern form, String text) {
        return form.matcher(text).matches() ? "" : "invalid UUID format";
    }
}
