// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The links to a driver's libraries: those of the node, and those that programs open although not
 * every installer makes them.
 */
final class SymbolicLinks {

    private final DriverRoot root;
    private final String version;

    /** The mounted files by their real paths. */
    private final Map<Path, Path> mounted = new LinkedHashMap<>();

    /** The targets of links, as they are written, by the links' paths. */
    private final Map<Path, String> links = new TreeMap<>();

    private SymbolicLinks(DriverRoot root, String version) {
        this.root = root;
        this.version = version;
    }

    /**
     * Returns the links to some files, as {@code target::link} in containers, sorted.
     *
     * @param files the libraries and modules that are mounted
     * @param folders further folders that may have links to them
     */
    static List<String> of(DriverRoot root, String version, List<Path> files, List<Path> folders) {
        SymbolicLinks links = new SymbolicLinks(root, version);
        files.forEach(file -> links.mounted.put(root.end(file), file));
        Set<Path> seen = new HashSet<>();
        Stream.concat(folders.stream(), files.stream().map(Path::getParent))
                .filter(folder -> seen.add(root.end(folder)))
                .forEach(links::addThoseIn);
        links.links.replaceAll(links::inContainer);
        files.forEach(links::addUsual);
        return links.links.entrySet().stream()
                .map(link -> link.getValue() + "::/" + root.here().relativize(link.getKey()))
                .toList();
    }

    private void addThoseIn(Path folder) {
        for (Path link : Listing.links(root, folder, "*.so{,.*}")) {
            Path file = mounted.get(root.end(link));
            if (file != null && !file.equals(link)) {
                links.put(link, root.written(link).toString());
            }
        }
    }

    /** Links by way of other places, as Debian's alternatives, lead to the file itself. */
    private String inContainer(Path link, String written) {
        Path target = root.target(link).normalize();
        if (links.containsKey(target) || mounted.containsValue(target)) {
            return written;
        }
        return link.getParent().relativize(mounted.get(root.end(link))).toString();
    }

    private void addUsual(Path file) {
        String name = file.getFileName().toString();
        if (name.equals("libcuda.so." + version)) {
            add(file, "libcuda.so", "libcuda.so.1");
        } else if (name.equals("libGLX_nvidia.so." + version)) {
            add(file, "libGLX_indirect.so.0", name);
        } else if (name.equals("libnvidia-opticalflow.so." + version)) {
            add(file, "libnvidia-opticalflow.so", "libnvidia-opticalflow.so.1");
        } else if (name.equals("libnvidia-allocator.so." + version)) {
            add(file, "gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1");
        } else if (name.equals("libglxserver_nvidia.so." + version)) {
            add(file, "libglxserver_nvidia.so", name);
        }
    }

    private void add(Path file, String link, String target) {
        links.putIfAbsent(file.resolveSibling(link), target);
    }
}
