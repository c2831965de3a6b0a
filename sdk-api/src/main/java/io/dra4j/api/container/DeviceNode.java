// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import org.jspecify.annotations.Nullable;

/**
 * A device node that the container sees.
 *
 * <p>What is {@code null} is taken from the node on the host by the container runtime.
 *
 * @param path the absolute path in the container
 * @param hostPath the absolute path on the host; {@code null} if it is the same
 * @param type {@code b}, {@code c}, {@code u} or {@code p}
 * @param major the major number
 * @param minor the minor number
 * @param fileMode the mode of the node in the container, for instance {@code 0660}
 * @param permissions what the container may do: letters of {@code rwm}
 * @param uid the owner in the container
 * @param gid the group in the container
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI,
 *     deviceNodes</a>
 */
public record DeviceNode(
        String path,
        @Nullable String hostPath,
        @Nullable String type,
        @Nullable Long major,
        @Nullable Long minor,
        @Nullable Integer fileMode,
        @Nullable String permissions,
        @Nullable Long uid,
        @Nullable Long gid) {

    /**
     * Returns a node that is in the container as it is on the host.
     *
     * @param path the absolute path on the host and in the container
     * @return the node
     */
    public static DeviceNode of(String path) {
        return new DeviceNode(path, null, null, null, null, null, null, null, null);
    }

    /**
     * Returns a node that has another path in the container than on the host.
     *
     * @param path the absolute path in the container
     * @param hostPath the absolute path on the host
     * @return the node
     */
    public static DeviceNode of(String path, String hostPath) {
        return new DeviceNode(path, hostPath, null, null, null, null, null, null, null);
    }
}
