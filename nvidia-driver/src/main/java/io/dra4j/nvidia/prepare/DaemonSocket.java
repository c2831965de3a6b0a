// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.error.DraException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The daemons of the node whose sockets or pipes containers may get. */
public enum DaemonSocket {
    persistenced,
    fabricmanager,
    mps,
    none;

    /** The default. The socket of persistenced only reports a setting, and sandboxes can't use it. */
    static final Set<DaemonSocket> DEFAULT = Set.of(fabricmanager, mps);

    /**
     * Returns the daemons whose sockets containers get.
     *
     * @param given the administrator's choice, if any; refused with a DraException if it lets containers switch
     * partitions
     */
    public static Set<DaemonSocket> of(@Nullable Set<DaemonSocket> given, boolean isPartitioned) {
        if (given == null) {
            return isPartitioned ? Set.of(mps) : DEFAULT;
        }
        if (isPartitioned && given.contains(fabricmanager)) {
            throw new DraException(
                    "--daemon-sockets names fabricmanager, and the feature gate FabricManagerPartitioning is on: a container with the socket of the fabric manager could switch the partitions of other claims; leave one of them out");
        }
        return given;
    }

    boolean isOf(Path file) {
        return file.endsWith("nvidia-" + name()) || file.endsWith("nvidia-" + name() + "/socket");
    }
}
