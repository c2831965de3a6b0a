// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The first two numbers of a version, such as {@code v1.36.2}, {@code 1.40+} or {@code 2.1.4-k3s1}. */
public record Release(int major, int minor) {

    private static final Pattern VERSION = Pattern.compile("v?([0-9]{1,4})\\.([0-9]{1,4})(\\D.*)?");

    /** Finds the release of a version; empty if it does not begin with two numbers. */
    public static Optional<Release> of(String version) {
        Matcher matcher = VERSION.matcher(version);
        return matcher.matches()
                ? Optional.of(new Release(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    public boolean isBefore(int otherMajor, int otherMinor) {
        return major < otherMajor || (major == otherMajor && minor < otherMinor);
    }

    /** Returns whether it is newer than every supported release of Kubernetes. */
    public boolean isNewerThanKnown() {
        return !isBefore(1, KubernetesVersion.newest().minor() + 1);
    }

    /** Returns the supported release of Kubernetes that is nearest to it. */
    public KubernetesVersion nearest() {
        return isNewerThanKnown() ? KubernetesVersion.newest() : KubernetesVersion.nearest(minor);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
