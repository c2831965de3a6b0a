// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Finds the files of a driver below its root, by their names. Without the libraries that every CUDA
 * program needs, the search fails: a container would start and fail later.
 */
final class DriverSearch {

    private static final List<String> LIBRARY_FOLDERS =
            List.of(
                    "usr/lib64",
                    "usr/lib/x86_64-linux-gnu",
                    "usr/lib/aarch64-linux-gnu",
                    "usr/lib/x86_64-linux-gnu/nvidia/current",
                    "usr/lib/aarch64-linux-gnu/nvidia/current",
                    "lib64",
                    "lib/x86_64-linux-gnu",
                    "lib/aarch64-linux-gnu");

    private static final List<String> BINARY_FOLDERS =
            List.of("usr/bin", "usr/sbin", "bin", "sbin", "opt/bin");

    private static final List<String> BINARIES =
            List.of(
                    "nvidia-smi",
                    "nvidia-debugdump",
                    "nvidia-persistenced",
                    "nvidia-cuda-mps-control",
                    "nvidia-cuda-mps-server",
                    "nvidia-imex",
                    "nvidia-imex-ctl");

    /** Libraries that every CUDA program needs. */
    private static final List<String> NEEDED = List.of("libcuda.so.", "libnvidia-ml.so.");

    private static final List<String> GRAPHICS =
            List.of(
                    "libnvidia-egl-gbm.so.*.*",
                    "libnvidia-egl-wayland.so.*.*",
                    "libnvidia-egl-wayland2.so.*.*",
                    "libnvidia-egl-xcb.so.*.*",
                    "libnvidia-egl-xlib.so.*.*",
                    "libnvidia-nvvm70.so.*");

    private static final List<String> CONFIG_FOLDERS =
            List.of("etc", "usr/share", "usr/local/share");

    private static final List<String> CONFIGS =
            List.of(
                    "glvnd/egl_vendor.d/10_nvidia.json",
                    "egl/egl_external_platform.d/15_nvidia_gbm.json",
                    "egl/egl_external_platform.d/10_nvidia_wayland.json",
                    "egl/egl_external_platform.d/09_nvidia_wayland2.json",
                    "egl/egl_external_platform.d/20_nvidia_xcb.json",
                    "egl/egl_external_platform.d/20_nvidia_xlib.json",
                    "nvidia/nvoptix.bin",
                    "OpenCL/vendors/nvidia.icd",
                    "X11/xorg.conf.d/10-nvidia.conf",
                    "X11/xorg.conf.d/nvidia-drm-outputclass.conf",
                    "vulkan/icd.d/nvidia_icd.json",
                    "vulkan/icd.d/nvidia_icd.x86_64.json",
                    "vulkan/icd.d/nvidia_icd.aarch64.json",
                    "vulkan/icd.d/nvidia_layers.json",
                    "vulkan/implicit_layer.d/nvidia_layers.json");

    private static final List<String> SOCKETS =
            List.of("nvidia-persistenced/socket", "nvidia-fabricmanager/socket");

    private static final List<String> SOCKET_FOLDERS = List.of("run", "var/run");

    private static final List<String> FIRMWARE_FOLDERS =
            List.of("lib/firmware/updates", "lib/firmware", "usr/lib/firmware");

    private final Path root;
    private final String version;

    DriverSearch(Path root, String version) {
        this.root = root;
        this.version = version;
    }

    /**
     * Finds the files.
     *
     * @throws PrepareException if a library is missing that every program needs
     */
    DriverFiles find() {
        DriverFiles found =
                new DriverFiles(
                        version,
                        libraries(),
                        firstOf(BINARY_FOLDERS, BINARIES),
                        firmware(),
                        firstOf(CONFIG_FOLDERS, CONFIGS),
                        sockets());
        for (String library : NEEDED) {
            if (found.libraries().stream().noneMatch(file -> is(file, library + version))) {
                throw new PrepareException(
                        "The driver below %s lacks %s%s in each of %s; install the driver again"
                                .formatted(root, library, version, LIBRARY_FOLDERS));
            }
        }
        return found;
    }

    /** Returns the sockets of running daemons. */
    List<Path> sockets() {
        return firstOf(SOCKET_FOLDERS, SOCKETS);
    }

    private static boolean is(Path file, String name) {
        return file.getFileName().toString().equals(name);
    }

    private List<Path> libraries() {
        Set<Path> found = new LinkedHashSet<>();
        for (String folder : LIBRARY_FOLDERS) {
            Path place = root.resolve(folder);
            requireTargets(place);
            List<Path> own = matching(place, "*.so." + version);
            found.addAll(own);
            if (!own.isEmpty()) {
                found.addAll(matching(place.resolve("vdpau"), "*.so." + version));
                GRAPHICS.forEach(form -> found.addAll(matching(place, form)));
            }
        }
        return withoutDuplicates(found);
    }

    /** Installers link libcuda.so.1 to libcuda.so.550.163.01: the targets have to exist. */
    private void requireTargets(Path folder) {
        for (Path link : listed(folder, "*.so.*").filter(Files::isSymbolicLink).toList()) {
            Path target = target(link);
            if ((isOwn(link) || isOwn(target)) && !Files.exists(target)) {
                throw new PrepareException(
                        "%s links to %s, which does not exist: install the driver again"
                                .formatted(link, target));
            }
        }
    }

    /** Returns whether a library is the driver's own: its name has the driver's version. */
    private boolean isOwn(Path library) {
        return library.toString().endsWith(".so." + version);
    }

    /** An absolute target is below the driver root, which was the root when it was installed. */
    private Path target(Path link) {
        try {
            Path target = Files.readSymbolicLink(link);
            return target.isAbsolute()
                    ? root.resolve(Path.of("/").relativize(target))
                    : link.resolveSibling(target);
        } catch (IOException e) {
            return link; // it was removed meanwhile
        }
    }

    /** If /lib is a link to /usr/lib, files are found twice. */
    private static List<Path> withoutDuplicates(Iterable<Path> files) {
        List<Path> once = new ArrayList<>();
        TreeSet<Path> real = new TreeSet<>();
        for (Path file : files) {
            if (real.add(real(file))) {
                once.add(file);
            }
        }
        return once;
    }

    private static Path real(Path file) {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            return file; // a dangling link has no duplicate
        }
    }

    private List<Path> firmware() {
        for (String folder : FIRMWARE_FOLDERS) {
            List<Path> found =
                    matching(root.resolve(folder).resolve("nvidia").resolve(version), "gsp*.bin");
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Returns each file in the first of the folders that has it. */
    private List<Path> firstOf(List<String> folders, List<String> names) {
        return names.stream()
                .flatMap(
                        name ->
                                folders.stream()
                                        .map(folder -> root.resolve(folder).resolve(name))
                                        .filter(Files::exists)
                                        .limit(1))
                .toList();
    }

    private static List<Path> matching(Path folder, String form) {
        return listed(folder, form).filter(Files::isRegularFile).toList();
    }

    private static Stream<Path> listed(Path folder, String form) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, form)) {
            List<Path> files = new ArrayList<>();
            found.forEach(files::add);
            return files.stream().sorted();
        } catch (NotDirectoryException | NoSuchFileException e) {
            return Stream.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new PrepareException("Can't list " + folder + ", where the driver may be", e);
        }
    }

    /** Returns the files whose inode and size identify an installation. */
    Stream<Path> identifyingFiles() {
        return LIBRARY_FOLDERS.stream()
                .map(folder -> root.resolve(folder).resolve("libcuda.so." + version))
                .filter(Files::exists);
    }

    /** Returns the searched folders, whose times change with their entries. */
    Stream<Path> folders() {
        Stream<String> libraries =
                LIBRARY_FOLDERS.stream().flatMap(folder -> Stream.of(folder, folder + "/vdpau"));
        Stream<String> firmware =
                FIRMWARE_FOLDERS.stream().map(folder -> folder + "/nvidia/" + version);
        return Stream.of(libraries, BINARY_FOLDERS.stream(), firmware, configFolders())
                .flatMap(folders -> folders)
                .map(root::resolve);
    }

    private static Stream<String> configFolders() {
        return CONFIG_FOLDERS.stream()
                .flatMap(folder -> CONFIGS.stream().map(name -> folder + "/" + name))
                .map(file -> file.substring(0, file.lastIndexOf('/')))
                .distinct();
    }
}
