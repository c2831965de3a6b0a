// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The files of a driver that have the same names in all versions. */
final class NamedFiles {

    private static final List<String> BINARIES = List.of(
            "nvidia-smi",
            "nvidia-debugdump",
            "nvidia-persistenced",
            "nvidia-cuda-mps-control",
            "nvidia-cuda-mps-server",
            "nvidia-imex",
            "nvidia-imex-ctl");

    private static final List<String> CONFIGS = List.of(
            "glvnd/egl_vendor.d/10_nvidia.json",
            "egl/egl_external_platform.d/15_nvidia_gbm.json",
            "egl/egl_external_platform.d/10_nvidia_wayland.json",
            "egl/egl_external_platform.d/09_nvidia_wayland2.json",
            "egl/egl_external_platform.d/20_nvidia_xcb.json",
            "egl/egl_external_platform.d/20_nvidia_xlib.json",
            "nvidia/nvoptix.bin",
            "OpenCL/vendors/nvidia.icd",
            "X11/xorg.conf.d/10-nvidia.conf",
            "X11/xorg.conf.d/nvidia-drm-outputclass.conf");

    private static final List<String> VULKAN = List.of(
            "vulkan/icd.d/nvidia_icd.json",
            "vulkan/icd.d/nvidia_icd.x86_64.json",
            "vulkan/icd.d/nvidia_icd.aarch64.json",
            "vulkan/icd.d/nvidia_layers.json",
            "vulkan/implicit_layer.d/nvidia_layers.json");

    /** The root itself is last: containers get its folder vulkan as /etc/vulkan. */
    private static final List<String> VULKAN_FOLDERS =
            Stream.concat(Places.CONFIGS.stream(), Stream.of("")).toList();

    private static final List<String> SOCKETS = List.of("nvidia-persistenced/socket", "nvidia-fabricmanager/socket");

    private static final List<String> SOCKET_FOLDERS = List.of("run", "var/run");

    private static final String MPS_PIPES = "tmp/nvidia-mps";

    private final DriverRoot root;

    NamedFiles(DriverRoot root) {
        this.root = root;
    }

    List<Path> binaries() {
        return firstOf(root.programFolders(), BINARIES, root::isFile);
    }

    List<Path> configs() {
        return Stream.of(
                        firstOf(in(Places.CONFIGS), CONFIGS, root::isFile),
                        firstOf(in(VULKAN_FOLDERS), VULKAN, root::isFile))
                .flatMap(List::stream)
                .toList();
    }

    /** Returns the sockets and pipes of running daemons. */
    List<Path> ofDaemons() {
        Path pipes = root.here().resolve(MPS_PIPES); // anybody may make a link in /tmp
        Stream<Path> ofMps = Files.isDirectory(pipes, LinkOption.NOFOLLOW_LINKS) ? Stream.of(pipes) : Stream.empty();
        List<Path> sockets = firstOf(in(SOCKET_FOLDERS), SOCKETS, this::isSocket);
        return Stream.concat(sockets.stream(), ofMps).toList();
    }

    private boolean isSocket(Path file) {
        Path end = root.end(file);
        return Files.exists(end) && !Files.isDirectory(end);
    }

    private List<Path> in(List<String> folders) {
        return folders.stream().map(root.here()::resolve).toList();
    }

    /** Returns each file in the first of the folders that has it. */
    private static List<Path> firstOf(List<Path> folders, List<String> names, Predicate<Path> isThere) {
        return names.stream()
                .flatMap(name -> folders.stream()
                        .map(folder -> folder.resolve(name))
                        .filter(isThere)
                        .limit(1))
                .toList();
    }

    /** Returns the programs that no folder has. */
    List<String> missingBinaries() {
        List<Path> found = binaries();
        return BINARIES.stream()
                .filter(name -> found.stream().noneMatch(file -> file.endsWith(name)))
                .toList();
    }

    /** Returns the folders of programs and configurations, which need not exist. */
    Stream<Path> folders() {
        Stream<Path> ofConfigs = Stream.concat(all(Places.CONFIGS, CONFIGS), all(VULKAN_FOLDERS, VULKAN))
                .map(Path::getParent)
                .distinct();
        return Stream.concat(root.programFolders().stream(), ofConfigs);
    }

    private Stream<Path> all(List<String> folders, List<String> names) {
        return in(folders).stream().flatMap(folder -> names.stream().map(folder::resolve));
    }
}
