// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A folder of device nodes outside of the driver root.
 *
 * @param isGiven whether an option names it
 * @param here the same folder as this process sees it
 * @param isLive whether device nodes created later on the node appear here
 */
public record DeviceFolder(Path onNode, boolean isGiven, Path here, boolean isLive) {

    private static final Path DEV = Path.of("/dev");

    /** The mount of the node's folder by the charts: a container's own {@code /dev} is a copy. */
    private static final Path USUAL_MOUNT = Path.of("/dev-root");

    /** The kernel has one file system of this type; a container has a different one, with copies of device nodes. */
    private static final String LIVE = "devtmpfs";

    /**
     * Returns the folder by the options.
     *
     * @param given the folder on the node; null for {@code /dev}
     * @param mounted the same folder as this process sees it; null for the charts' mount, or none
     */
    public static DeviceFolder of(@Nullable Path given, @Nullable Path mounted) {
        if (given != null) {
            return new DeviceFolder(given, true, mounted == null ? given : mounted, true);
        }
        if (mounted != null || Files.isDirectory(USUAL_MOUNT)) {
            return new DeviceFolder(DEV, false, mounted == null ? USUAL_MOUNT : mounted, true);
        }
        return new DeviceFolder(DEV, false, DEV, isLive(DEV));
    }

    private static boolean isLive(Path folder) {
        try {
            return Files.getFileStore(folder).type().equals(LIVE);
        } catch (IOException e) {
            return false;
        }
    }
}
