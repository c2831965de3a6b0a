// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** What a search for the driver's library came to. */
sealed interface LibrarySearch {

    /**
     * The library is there.
     *
     * @param library its path
     */
    record Found(Path library) implements LibrarySearch {}

    /**
     * The library is in none of the usual places.
     *
     * @param root the driver root that was searched
     * @param searched every path that was tried, in order
     */
    record NotFound(DriverRoot root, List<Path> searched) implements LibrarySearch {

        /** Copies the list. */
        public NotFound {
            searched = List.copyOf(searched);
        }

        /** Says what is missing, where it was looked for, and what to do next. */
        String message() {
            return "No NVIDIA driver below "
                    + root.path()
                    + ": none of "
                    + searched.stream().map(Path::toString).collect(Collectors.joining(", "))
                    + " is a readable file; install the driver, or set the driver root to the"
                    + " place where it is mounted";
        }
    }
}
