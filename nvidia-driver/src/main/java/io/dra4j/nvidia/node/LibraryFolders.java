// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The folders below a driver root that may have its libraries.
 *
 * @param all the folders, in order, which need not exist
 * @param problem why a cache of the loader can't be read, and what to do; empty if none is needed
 */
record LibraryFolders(List<Path> all, String problem) {

    /**
     * Returns the usual folders, and all others if the usual ones lack a library: the others may
     * have those of 32 bits, too.
     *
     * @param libraries their names
     * @param isThere whether a path is that of a library
     */
    static LibraryFolders of(DriverRoot root, List<String> libraries, Predicate<Path> isThere) {
        Stream<Path> chosen = root.libraries().stream().map(root::ofNode);
        List<Path> usual =
                Stream.concat(chosen, in(root, Places.LIBRARIES)).distinct().toList();
        boolean hasAll = libraries.stream()
                .allMatch(name -> usual.stream().anyMatch(folder -> isThere.test(folder.resolve(name))));
        if (hasAll) {
            return new LibraryFolders(usual, "");
        }
        Loader loader = Loader.of(root);
        List<Path> all = Stream.of(usual.stream(), in(root, Places.LIBRARIES_ELSEWHERE), loader.folders().stream())
                .flatMap(folders -> folders)
                .distinct()
                .toList();
        return new LibraryFolders(all, loader.problem());
    }

    private static Stream<Path> in(DriverRoot root, List<String> places) {
        return places.stream().map(root.here()::resolve);
    }
}
