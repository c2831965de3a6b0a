// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A mount that the container sees.
 *
 * @param hostPath the absolute path on the host
 * @param containerPath the absolute path in the container
 * @param options mount options, such as {@code ro} and {@code bind}
 * @param type the file system type; {@code null} for a bind mount
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, mounts</a>
 */
public record Mount(
        String hostPath,
        String containerPath,
        List<String> options,
        @Nullable String type) {

    /** Copies the list. */
    public Mount {
        Objects.requireNonNull(hostPath, "hostPath");
        Objects.requireNonNull(containerPath, "containerPath");
        options = List.copyOf(Objects.requireNonNull(options, "options"));
    }

    /**
     * Returns a read-only bind mount.
     *
     * @param hostPath the absolute path on the host
     * @param containerPath the absolute path in the container
     * @return the mount
     */
    public static Mount readOnly(String hostPath, String containerPath) {
        return new Mount(hostPath, containerPath, List.of("ro", "nosuid", "nodev", "bind"), null);
    }
}
