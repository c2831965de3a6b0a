// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version of the NVIDIA driver, in the driver's form: {@code 550.163.01}, {@code 580.95}.
 *
 * @param text the version as written: two or three numbers with dots between
 */
record DriverVersion(String text) {

    private static final Pattern FORM = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,9})(?:\\.([0-9]{1,9}))?");

    /**
     * Checks the form.
     *
     * @throws IllegalArgumentException if the text is not a version
     */
    DriverVersion {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "Not a version of the NVIDIA driver: \"" + text + "\"; expected 550.163.01");
        }
    }

    /**
     * Returns the version in the form that a version attribute must have.
     *
     * <p>A semantic version has three numbers, none with leading zeros: the API server refuses
     * {@code 550.163.01}.
     *
     * @return the semantic version, for instance {@code 550.163.1}
     * @see <a href="https://semver.org/spec/v2.0.0.html#spec-item-2">Semantic Versioning, item
     *     2</a>
     */
    String semver() {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            throw new IllegalStateException("Checked by the constructor: " + text);
        }
        String patch = parts.group(3) == null ? "0" : bare(parts.group(3));
        return bare(parts.group(1)) + "." + bare(parts.group(2)) + "." + patch;
    }

    private static String bare(String digits) {
        return new BigInteger(digits).toString();
    }
}
