// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of an installed driver that containers get, as this process sees them.
 *
 * @param version the driver's version, which is in the names of its libraries
 * @param libraries its libraries, of which libcuda is one
 * @param modules the modules of the X server
 * @param firmware the firmware of the GPU's own processor
 * @param configs the configurations of graphics and compute loaders
 * @param links the links to libraries, as {@code target::link}, by their paths in containers
 */
public record DriverFiles(
        String version,
        List<Path> libraries,
        List<Path> modules,
        List<Path> binaries,
        List<Path> firmware,
        List<Path> configs,
        List<String> links) {

    public DriverFiles {
        libraries = List.copyOf(libraries);
        modules = List.copyOf(modules);
        binaries = List.copyOf(binaries);
        firmware = List.copyOf(firmware);
        configs = List.copyOf(configs);
        links = List.copyOf(links);
    }

    /**
     * Returns the files that belong to the installation itself; the others belong to packages with their own versions.
     */
    public Stream<Path> own() {
        Stream<Path> versioned = Stream.concat(libraries.stream(), modules.stream())
                .filter(file -> file.toString().endsWith(".so." + version));
        return Stream.of(versioned, binaries.stream(), firmware.stream()).flatMap(each -> each);
    }

    public Stream<Path> readOnly() {
        return Stream.of(libraries, modules, binaries, firmware, configs).flatMap(List::stream);
    }

    public Path libcuda() {
        return libraries.stream()
                .filter(file -> file.getFileName().toString().startsWith("libcuda.so."))
                .findFirst()
                .orElseThrow();
    }

    public List<Path> directories() {
        return libraries.stream().map(Path::getParent).distinct().sorted().toList();
    }
}
