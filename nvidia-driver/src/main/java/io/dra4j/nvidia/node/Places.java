// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.util.List;

/** The folders below a driver root in which distributions, installers and vendors place its files. */
final class Places {

    /** The root itself is last: a driver may be unpacked there. */
    static final List<String> LIBRARIES = List.of(
            "usr/lib64",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/aarch64-linux-gnu",
            "usr/lib/x86_64-linux-gnu/nvidia/current",
            "usr/lib/aarch64-linux-gnu/nvidia/current",
            "lib64",
            "lib/x86_64-linux-gnu",
            "lib/aarch64-linux-gnu",
            "");

    /** Folders that have only 32-bit libraries, or none, if one of the folders above has the driver's libraries. */
    static final List<String> LIBRARIES_ELSEWHERE = List.of(
            "usr/lib", // Arch, Bottlerocket
            "usr/local/glibc/usr/lib", // Talos
            "usr/lib/wsl/lib"); // WSL2

    static final List<String> PROGRAMS = List.of(
            "usr/bin",
            "usr/sbin",
            "bin",
            "sbin",
            "opt/bin",
            "usr/local/bin", // Talos
            "usr/lib/nvidia/current"); // Debian, where no alternative is chosen

    static final List<String> CONFIGS = List.of("etc", "usr/share", "usr/local/share");

    /** The folders that have {@code etc} of a loader: Talos keeps glibc apart from the system. */
    static final List<String> LOADERS = List.of("", "usr/local/glibc");

    private Places() {}
}
