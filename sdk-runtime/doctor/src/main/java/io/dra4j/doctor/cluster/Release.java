// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.rules.KubernetesVersion;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The first two numbers of a version, such as {@code v1.36.2} or {@code 2.1.4-k3s1}.
 *
 * @param major the first
 * @param minor the second
 */
record Release(int major, int minor) {

    private static final Pattern VERSION = Pattern.compile("v?([0-9]{1,4})\\.([0-9]{1,4})(\\D.*)?");

    static Optional<Release> of(String text) {
        Matcher matcher = VERSION.matcher(text);
        return matcher.matches()
                ? Optional.of(new Release(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /** Returns whether a release of Kubernetes has no DRA, unless it is switched on. */
    boolean isWithoutDra() {
        return isBefore(1, KubernetesVersion.V1_34.minor());
    }

    boolean isBefore(int otherMajor, int otherMinor) {
        return major < otherMajor || (major == otherMajor && minor < otherMinor);
    }
}
