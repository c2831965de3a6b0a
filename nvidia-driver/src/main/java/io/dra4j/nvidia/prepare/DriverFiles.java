// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of an installed driver that containers get, as this process sees them.
 *
 * @param version the driver's version, which its libraries have in their names
 * @param libraries its libraries, of which libcuda is one
 * @param binaries its programs
 * @param firmware what the GPU's own processor runs
 * @param configs what graphics and compute loaders read
 * @param sockets of its daemons, those that are there
 */
record DriverFiles(
        String version,
        List<Path> libraries,
        List<Path> binaries,
        List<Path> firmware,
        List<Path> configs,
        List<Path> sockets) {

    DriverFiles {
        libraries = List.copyOf(libraries);
        binaries = List.copyOf(binaries);
        firmware = List.copyOf(firmware);
        configs = List.copyOf(configs);
        sockets = List.copyOf(sockets);
    }

    /** The same files, and the sockets of the daemons that run now. */
    DriverFiles with(List<Path> running) {
        return new DriverFiles(version, libraries, binaries, firmware, configs, running);
    }

    /**
     * What an installation has from its beginning to its end; other packages, with versions of
     * their own, bring the rest.
     */
    Stream<Path> own() {
        Stream<Path> versioned =
                libraries.stream().filter(file -> file.toString().endsWith(".so." + version));
        return Stream.of(versioned, binaries.stream(), firmware.stream()).flatMap(each -> each);
    }

    /** All that is mounted to be read. */
    Stream<Path> readOnly() {
        return Stream.of(libraries, binaries, firmware, configs).flatMap(List::stream);
    }

    /** Where libcuda is. */
    Path libcuda() {
        return libraries.stream()
                .filter(file -> file.getFileName().toString().startsWith("libcuda.so."))
                .findFirst()
                .orElseThrow();
    }

    /** The directories that hold libraries, each once, in order. */
    List<Path> directories() {
        return libraries.stream().map(Path::getParent).distinct().sorted().toList();
    }
}
