// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Arrays;

/** A minor release of Kubernetes whose rules are known. */
public enum KubernetesVersion {
    V1_34(34, "v1.34.0"),
    V1_35(35, "v1.35.0"),
    V1_36(36, "v1.36.2"),
    V1_37(37, "v1.37.0");

    private static final String UNKNOWN =
            "no embedded API server for Kubernetes %s; choose one of 1.34, 1.35, 1.36, 1.37";

    private final int minor;
    private final String gitVersion;

    KubernetesVersion(int minor, String gitVersion) {
        this.minor = minor;
        this.gitVersion = gitVersion;
    }

    /** The number after "1.". */
    public int minor() {
        return minor;
    }

    /** The version as {@code /version} reports it, for example {@code v1.36.2}. */
    public String gitVersion() {
        return gitVersion;
    }

    /** Returns whether this is that release or a later one. */
    public boolean atLeast(KubernetesVersion other) {
        return compareTo(other) >= 0;
    }

    /**
     * Finds the release of a text such as {@code 1.36} or {@code v1.36}.
     *
     * @throws IllegalArgumentException when the release is not one of these
     */
    public static KubernetesVersion parse(String text) {
        String bare = text.startsWith("v") ? text.substring(1) : text;
        return Arrays.stream(values())
                .filter(version -> bare.equals("1." + version.minor))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(UNKNOWN.formatted(text)));
    }
}
