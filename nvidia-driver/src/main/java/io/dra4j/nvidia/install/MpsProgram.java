// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.node.DriverFinder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The program {@code nvidia-cuda-mps-control} below the driver root, which is the control daemon of MPS and its client.
 *
 * <p>It starts {@code nvidia-cuda-mps-server}, which loads the driver's libraries. They are found through links in a
 * separate folder, because the driver's folder may also contain a C library that is not this process's. Thread-safe.
 *
 * @param selinux the label of what containers share with the daemon, and files that show if SELinux is enforced
 */
public record MpsProgram(DriverFinder driver, List<String> selinux) {

    private static final String NAME = "nvidia-cuda-mps-control";
    public static final String SERVER = "nvidia-cuda-mps-server";
    private static final List<String> LIBRARIES = List.of("libcuda.so", "libnvidia-");

    public MpsProgram {
        selinux = List.copyOf(selinux);
    }

    /** Ensures that the daemon, its server and their libraries are there. */
    public void requireThere() {
        file();
        driver.findProgram(SERVER);
        driver.findNvml();
    }

    public Path file() {
        return driver.findProgram(NAME);
    }

    /**
     * Returns the variables with which the daemon finds server and libraries.
     *
     * @param links a folder for links to the driver's libraries
     */
    public Map<String, String> environment(Path links) {
        Path libraries = driver.findNvml().getParent();
        try (Stream<Path> files = Files.list(libraries)) {
            Files.createDirectories(links);
            for (Path file : files.filter(MpsProgram::isOfDriver).toList()) {
                Path link = links.resolve(file.getFileName());
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, file);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new DraException(
                    "Can't link the libraries of %s in %s: %s".formatted(libraries, links, e.getMessage()), e);
        }
        return Map.of("PATH", String.valueOf(file().getParent()), "LD_LIBRARY_PATH", links.toString());
    }

    private static boolean isOfDriver(Path file) {
        return LIBRARIES.stream().anyMatch(file.getFileName().toString()::startsWith);
    }
}
