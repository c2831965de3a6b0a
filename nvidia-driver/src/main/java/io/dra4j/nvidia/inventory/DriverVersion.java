// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import java.math.BigInteger;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Versions of the NVIDIA driver, in the driver's form: {@code 550.163.01}, {@code 580.95}. */
final class DriverVersion {

    private static final Pattern FORM = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,9})(?:\\.([0-9]{1,9}))?");

    private DriverVersion() {}

    /**
     * Returns a version in the form that a version attribute must have.
     *
     * <p>A semantic version has three numbers, none with leading zeros: the API server refuses
     * {@code 550.163.01}.
     *
     * @param text the version as written: two or three numbers with dots between
     * @return the semantic version, for instance {@code 550.163.1}; empty for a text in any other
     *     form, of which the driver has none, and which a selector had better not compare
     * @see <a href="https://semver.org/spec/v2.0.0.html#spec-item-2">Semantic Versioning, item
     *     2</a>
     */
    static Optional<String> semver(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        String patch = parts.group(3) == null ? "0" : bare(parts.group(3));
        return Optional.of(bare(parts.group(1)) + "." + bare(parts.group(2)) + "." + patch);
    }

    private static String bare(String digits) {
        return new BigInteger(digits).toString();
    }
}
