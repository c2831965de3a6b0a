// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.nio.file.Path;

/**
 * The NVIDIA driver as seen in the node's files, without calling NVML. Thread-safe, and cheap
 * enough for several calls a second.
 */
public interface Installation {

    /**
     * Finds NVML's library.
     *
     * @return an absolute path, below the driver root
     * @throws io.dra4j.api.error.DraException if there is none
     */
    Path library();

    /** Returns a text that changes when the library is replaced, or the kernel module is loaded again. */
    String fingerprint();

    /**
     * Returns a text that changes when the kernel module is loaded again, and with a reboot: no GPU
     * instance outlives it.
     *
     * @return empty if the kernel does not show it
     */
    String moduleLoad();

    /** Returns a library that is never replaced. */
    static Installation of(Path library) {
        return new Installation() {
            @Override
            public Path library() {
                return library;
            }

            @Override
            public String fingerprint() {
                return "";
            }

            @Override
            public String moduleLoad() {
                return "";
            }
        };
    }
}
