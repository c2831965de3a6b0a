// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
     * Returns the usual folders, and all others if the usual ones lack a library: the others may also contain 32-bit
     * libraries.
     *
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

    /**
     * The folders of libraries that the dynamic loader below a driver root searches.
     *
     * @param folders those in its configuration, and those that its cache names for libcuda and NVML
     * @param problem why a cache can't be read, and what to do; empty if there is no such cache
     */
    private record Loader(List<Path> folders, String problem) {

        static Loader of(DriverRoot root) {
            List<Path> folders = new ArrayList<>();
            String problem = "";
            for (String place : Places.LOADERS) {
                Path etc = root.here().resolve(place).resolve("etc");
                configured(root, etc).map(root::ofNode).forEach(folders::add);
                try {
                    LdCache.read(root.end(etc.resolve("ld.so.cache"))).stream()
                            .filter(Loader::isOfDriver)
                            .map(library -> root.ofNode(library).getParent())
                            .forEach(folders::add);
                } catch (IOException e) {
                    problem = ", because it can't be read: %s; an administrator must run ldconfig on the node"
                            .formatted(e.getMessage());
                }
            }
            return new Loader(folders.stream().distinct().toList(), problem);
        }

        private static boolean isOfDriver(Path library) {
            String name = String.valueOf(library.getFileName());
            return library.isAbsolute() && (name.startsWith("libcuda.so.") || name.startsWith("libnvidia-ml.so."));
        }

        private static Stream<Path> configured(DriverRoot root, Path etc) {
            return FolderEntries.files(root, etc.resolve("ld.so.conf.d"), "*.conf").stream()
                    .flatMap(file -> lines(root.end(file)))
                    .filter(line -> line.matches("/[\\p{Print}\\t]*"))
                    .map(line -> Path.of(line.split("[\\s#=]", 2)[0]));
        }

        private static Stream<String> lines(Path file) {
            try {
                return Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
                        .map(String::strip);
            } catch (IOException e) {
                return Stream.empty(); // missing or not readable: the cache may have the folder
            }
        }
    }
}
