// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Path;
import java.util.Set;

/** The daemons of the node whose sockets or pipes containers may get. */
public enum DaemonSocket {
    persistenced,
    fabricmanager,
    mps,
    none;

    /** Without that of persistenced, which only tells programs a setting, and which sandboxes can't have. */
    static final Set<DaemonSocket> DEFAULT = Set.of(fabricmanager, mps);

    boolean isOf(Path file) {
        return file.endsWith("nvidia-" + name()) || file.endsWith("nvidia-" + name() + "/socket");
    }
}
