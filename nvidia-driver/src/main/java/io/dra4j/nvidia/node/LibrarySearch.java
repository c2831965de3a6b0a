// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.PrepareException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Finds a driver's libraries, by the version in their names: in the usual folders, and in those of
 * the loader's cache if they are not there.
 */
final class LibrarySearch {

    private static final List<String> GRAPHICS = List.of(
            "libnvidia-egl-gbm.so.*.*",
            "libnvidia-egl-wayland.so.*.*",
            "libnvidia-egl-wayland2.so.*.*",
            "libnvidia-egl-xcb.so.*.*",
            "libnvidia-egl-xlib.so.*.*",
            "libnvidia-nvvm70.so.*");

    /** The folders of modules below a folder of libraries, by package and by installer. */
    private static final List<String> MODULE_FOLDERS =
            List.of("nvidia/xorg", "xorg/modules/drivers", "xorg/modules/extensions");

    private final DriverRoot root;
    private final String version;
    private final LibraryFolders folders;

    LibrarySearch(DriverRoot root, String version) {
        this.root = root;
        this.version = version;
        this.folders = LibraryFolders.of(root, needed(version), root::isFile);
    }

    /** Returns the libraries that every CUDA program needs. */
    static List<String> needed(String version) {
        return List.of("libcuda.so." + version, "libnvidia-ml.so." + version);
    }

    /** Returns the folders of libraries, which need not exist. */
    List<Path> folders() {
        return folders.all();
    }

    /** Returns why the loader's cache was of no help, and what to do; empty if it was. */
    String problem() {
        return folders.problem();
    }

    /** Returns all folders that are looked at. */
    Stream<Path> searched() {
        Stream<Path> ofLibraries = folders().stream().flatMap(folder -> Stream.of(folder, folder.resolve("vdpau")));
        return Stream.concat(ofLibraries, moduleFolders());
    }

    /**
     * Returns the libraries.
     *
     * @throws PrepareException if a link of the driver has no target
     */
    List<Path> find() {
        Set<Path> found = new LinkedHashSet<>();
        for (Path folder : folders()) {
            requireTargets(folder);
            List<Path> own = Listing.files(root, folder, "*.so." + version);
            found.addAll(own);
            if (!own.isEmpty()) {
                found.addAll(Listing.files(root, folder.resolve("vdpau"), "*.so." + version));
                GRAPHICS.forEach(form -> found.addAll(Listing.files(root, folder, form)));
            }
        }
        return withoutDuplicates(found);
    }

    /** Returns the modules of the X server. */
    List<Path> modules() {
        return withoutDuplicates(moduleFolders()
                .flatMap(folder ->
                        Stream.of(folder.resolve("nvidia_drv.so"), folder.resolve("libglxserver_nvidia.so." + version)))
                .filter(root::isFile)
                .toList());
    }

    private Stream<Path> moduleFolders() {
        return Stream.concat(folders().stream(), Stream.of(root.here().resolve("usr/lib")))
                .flatMap(folder -> MODULE_FOLDERS.stream().map(folder::resolve));
    }

    /** Installers link libcuda.so.1 to libcuda.so.550.163.01: the targets have to exist. */
    private void requireTargets(Path folder) {
        for (Path link : Listing.links(root, folder, "*.so.*")) {
            Path target = root.end(link);
            if ((isOwn(link) || isOwn(target)) && !Files.exists(target)) {
                throw new PrepareException(
                        "%s links to %s, which does not exist: install the driver again".formatted(link, target));
            }
        }
    }

    /** Returns whether a library is the driver's own: its name has the driver's version. */
    private boolean isOwn(Path library) {
        return library.toString().endsWith(".so." + version);
    }

    /** If /lib is a link to /usr/lib, files are found twice. */
    private List<Path> withoutDuplicates(Iterable<Path> files) {
        List<Path> once = new ArrayList<>();
        TreeSet<Path> real = new TreeSet<>();
        for (Path file : files) {
            if (real.add(root.end(file))) {
                once.add(file);
            }
        }
        return once;
    }
}
