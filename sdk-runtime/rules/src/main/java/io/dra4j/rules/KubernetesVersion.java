// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Arrays;
import java.util.stream.Collectors;

/** A supported minor release of Kubernetes. */
public enum KubernetesVersion {
    V1_34(34, "v1.34.0"),
    V1_35(35, "v1.35.0"),
    V1_36(36, "v1.36.2"),
    V1_37(37, "v1.37.0"),
    V1_38(38, "v1.38.0");

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

    /** Returns the version as {@code /version} reports it, for example {@code v1.36.2}. */
    public String gitVersion() {
        return gitVersion;
    }

    public boolean atLeast(KubernetesVersion other) {
        return compareTo(other) >= 0;
    }

    public static KubernetesVersion newest() {
        return values()[values().length - 1];
    }

    /** Returns the release with this number after "1.", or the nearest one whose rules are known. */
    public static KubernetesVersion nearest(int minor) {
        return Arrays.stream(values())
                .filter(version -> version.minor >= minor)
                .findFirst()
                .orElse(newest());
    }

    /**
     * Finds the release of a text such as {@code 1.36} or {@code v1.36}.
     *
     * @throws IllegalArgumentException if the release is not supported
     */
    public static KubernetesVersion parse(String text) {
        String bare = text.startsWith("v") ? text.substring(1) : text;
        return Arrays.stream(values())
                .filter(version -> bare.equals("1." + version.minor))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(unknown(text)));
    }

    private static String unknown(String text) {
        return "The rules of Kubernetes %s are not known; choose one of %s"
                .formatted(
                        text,
                        Arrays.stream(values())
                                .map(version -> "1." + version.minor)
                                .collect(Collectors.joining(", ")));
    }
}
