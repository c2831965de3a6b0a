// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The folders below a driver root that have its libraries. */
public final class LibraryFolders {

    /** The root itself is last: a driver may be unpacked there. */
    private static final List<String> USUAL = List.of(
            "usr/lib64",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/aarch64-linux-gnu",
            "usr/lib/x86_64-linux-gnu/nvidia/current",
            "usr/lib/aarch64-linux-gnu/nvidia/current",
            "lib64",
            "lib/x86_64-linux-gnu",
            "lib/aarch64-linux-gnu",
            "");

    private LibraryFolders() {}

    /** Returns the folders of distributions; they need not exist. */
    public static List<Path> usual(Path root) {
        return USUAL.stream().map(root::resolve).toList();
    }

    /**
     * Returns the folders that the loader's cache has for libcuda and NVML; none if there is no
     * cache.
     *
     * @throws PrepareException if the cache is malformed
     */
    public static List<Path> cached(Path root) {
        try {
            return LdCache.read(root.resolve("etc/ld.so.cache")).stream()
                    .filter(LibraryFolders::isOfDriver)
                    .map(library ->
                            root.resolve(Path.of("/").relativize(library)).getParent())
                    .distinct()
                    .toList();
        } catch (IOException e) {
            throw new PrepareException(
                    "The driver is in none of the usual folders, and the loader's cache can't be read: %s; the administrator runs ldconfig on the node"
                            .formatted(e.getMessage()),
                    e);
        }
    }

    private static boolean isOfDriver(Path library) {
        String name = String.valueOf(library.getFileName());
        return library.isAbsolute() && (name.startsWith("libcuda.so.") || name.startsWith("libnvidia-ml.so."));
    }
}
