// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the files of a driver below its root, by their names. Without the libraries that every CUDA
 * program needs, the search fails: a container would start and fail later.
 */
public final class DriverSearch {

    private final DriverRoot root;
    private final String version;
    private final LibrarySearch libraries;
    private final FirmwareSearch firmware;
    private final NamedFiles named;

    /**
     * Prepares the search.
     *
     * @param version the driver's version in its own form
     */
    public DriverSearch(Roots roots, String version) {
        this.root = roots.driver();
        this.version = version;
        this.libraries = new LibrarySearch(root, version);
        this.firmware = new FirmwareSearch(roots, version);
        this.named = new NamedFiles(root);
    }

    /**
     * Finds the files.
     *
     * @throws PrepareException if a library is missing that every program needs
     */
    public DriverFiles find() {
        List<Path> found = libraries.find();
        for (String name : LibrarySearch.needed(version)) {
            if (found.stream().noneMatch(file -> file.endsWith(name))) {
                throw new PrepareException(
                        "The driver below %s lacks %s in each of %s, and in the loader's cache%s; the administrator installs the driver again, or names its folders by --driver-library-folders"
                                .formatted(root.here(), name, libraries.folders(), libraries.problem()));
            }
        }
        List<Path> modules = libraries.modules();
        List<Path> linkable = Stream.concat(found.stream(), modules.stream()).toList();
        return new DriverFiles(
                version,
                found,
                modules,
                named.binaries(),
                firmware.find(),
                named.configs(),
                SymbolicLinks.of(root, version, linkable, libraries.folders()),
                ofDaemons());
    }

    /** Returns the sockets and pipes of running daemons. */
    public List<Path> ofDaemons() {
        return named.ofDaemons();
    }

    /** Returns the programs that containers lack, as no folder has them. */
    public List<String> missingPrograms() {
        return named.missingBinaries();
    }

    /** Returns the files whose inode and size identify an installation. */
    public Stream<Path> identifyingFiles() {
        return libraries.folders().stream()
                .map(folder -> folder.resolve("libcuda.so." + version))
                .filter(root::isFile);
    }

    /** Returns the searched folders, whose times change with their entries. */
    public Stream<Path> folders() {
        return Stream.of(libraries.searched(), firmware.folders().stream(), named.folders())
                .flatMap(folders -> folders);
    }

    /** Finds the firmware of a driver's version, in the folders and in the order of the kernel. */
    private static final class FirmwareSearch {

        private final DriverRoot root;
        private final List<Path> folders;

        FirmwareSearch(Roots roots, String version) {
            root = roots.driver();
            List<Path> all = new ArrayList<>();
            text(roots.sysfs().resolve("module/firmware_class/parameters/path"))
                    .map(Path::of)
                    .filter(Path::isAbsolute)
                    .map(root::ofNode)
                    .ifPresent(all::add);
            Optional<String> release = text(roots.proc().resolve("sys/kernel/osrelease"));
            for (String folder : List.of("lib/firmware/updates", "lib/firmware", "usr/lib/firmware")) {
                release.ifPresent(name -> all.add(root.here().resolve(folder).resolve(name)));
                all.add(root.here().resolve(folder));
            }
            folders = all.stream()
                    .map(each -> each.resolve("nvidia").resolve(version))
                    .toList();
        }

        /** A file of the kernel that is absent says nothing. */
        private static Optional<String> text(Path file) {
            try {
                return Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty());
            } catch (IOException e) {
                return Optional.empty();
            }
        }

        /** Returns the searched folders, which need not exist. */
        List<Path> folders() {
            return folders;
        }

        /** Returns the files of the first folder that has some. */
        List<Path> find() {
            return folders.stream()
                    .map(folder -> Listing.files(root, folder, "gsp*.bin"))
                    .filter(files -> !files.isEmpty())
                    .findFirst()
                    .orElse(List.of());
        }
    }
}
