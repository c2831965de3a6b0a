// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of a driver that have the same names in all versions. */
final class NamedFiles {

    private static final List<String> BINARY_FOLDERS = List.of("usr/bin", "usr/sbin", "bin", "sbin", "opt/bin");

    private static final List<String> BINARIES = List.of(
            "nvidia-smi",
            "nvidia-debugdump",
            "nvidia-persistenced",
            "nvidia-cuda-mps-control",
            "nvidia-cuda-mps-server",
            "nvidia-imex",
            "nvidia-imex-ctl");

    private static final List<String> CONFIG_FOLDERS = List.of("etc", "usr/share", "usr/local/share");

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
            Stream.concat(CONFIG_FOLDERS.stream(), Stream.of("")).toList();

    private static final List<String> SOCKETS = List.of("nvidia-persistenced/socket", "nvidia-fabricmanager/socket");

    private static final List<String> SOCKET_FOLDERS = List.of("run", "var/run");

    private static final String MPS_PIPES = "tmp/nvidia-mps";

    private final Path root;

    NamedFiles(Path root) {
        this.root = root;
    }

    List<Path> binaries() {
        return firstOf(BINARY_FOLDERS, BINARIES).toList();
    }

    List<Path> configs() {
        return Stream.concat(firstOf(CONFIG_FOLDERS, CONFIGS), firstOf(VULKAN_FOLDERS, VULKAN))
                .toList();
    }

    /** Returns the sockets and pipes of running daemons. */
    List<Path> ofDaemons() {
        Path pipes = root.resolve(MPS_PIPES); // anybody may make a link in /tmp
        Stream<Path> ofMps = Files.isDirectory(pipes, LinkOption.NOFOLLOW_LINKS) ? Stream.of(pipes) : Stream.empty();
        return Stream.concat(firstOf(SOCKET_FOLDERS, SOCKETS), ofMps).toList();
    }

    /** Returns each file in the first of the folders that has it. */
    private Stream<Path> firstOf(List<String> folders, List<String> names) {
        return names.stream()
                .flatMap(name -> folders.stream()
                        .map(folder -> root.resolve(folder).resolve(name))
                        .filter(Files::exists)
                        .limit(1));
    }

    /** Returns the folders of programs and configurations, which need not exist. */
    Stream<Path> folders() {
        Stream<Path> ofConfigs = Stream.concat(all(CONFIG_FOLDERS, CONFIGS), all(VULKAN_FOLDERS, VULKAN))
                .map(Path::getParent)
                .distinct();
        return Stream.concat(BINARY_FOLDERS.stream().map(root::resolve), ofConfigs);
    }

    private Stream<Path> all(List<String> folders, List<String> names) {
        return folders.stream()
                .flatMap(folder ->
                        names.stream().map(name -> root.resolve(folder).resolve(name)));
    }
}
