// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts versions as vendors write them to semantic versions.
 *
 * @see <a href="https://semver.org/spec/v2.0.0.html">Semantic Versioning 2.0.0</a>
 */
final class LenientVersion {

    private static final int LONGEST = 64;

    private static final String NUMBER = "0*([0-9]{1,18})";
    private static final String PRE_RELEASE = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";
    private static final String BUILD = "[0-9A-Za-z-]+";

    /** The lookahead rejects a further digit, which would belong to the number. */
    private static final Pattern FORM = Pattern.compile(
            "[vV]?" + NUMBER + "(?![0-9])(?:\\." + NUMBER + "(?![0-9]))?(?:\\." + NUMBER + "(?![0-9]))?(.*)",
            Pattern.DOTALL);

    /** The end of a semantic version, after its numbers. */
    private static final Pattern END =
            Pattern.compile("(?:-%1$s(?:\\.%1$s)*)?(?:\\+%2$s(?:\\.%2$s)*)?".formatted(PRE_RELEASE, BUILD));

    private LenientVersion() {}

    static Optional<String> of(String text) {
        Matcher parts = FORM.matcher(text.strip());
        if (!parts.matches()) {
            return Optional.empty();
        }
        String numbers = number(parts.group(1)) + "." + number(parts.group(2)) + "." + number(parts.group(3));
        String rest = parts.group(4);
        if (END.matcher(rest).matches() && numbers.length() + rest.length() <= LONGEST) {
            return Optional.of(numbers + rest);
        }
        String build = rest.replaceAll("[^0-9A-Za-z-]+", ".").replaceFirst("^[.-]+", "");
        String version = build.isEmpty() ? numbers : numbers + "+" + build;
        return Optional.of(
                version.substring(0, Math.min(version.length(), LONGEST)).replaceFirst("[+.]+$", ""));
    }

    private static String number(@Nullable String digits) {
        return digits == null ? "0" : Long.toString(Long.parseLong(digits));
    }
}
