// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DriverFinderTest {

    @TempDir
    Path root;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "usr/lib64",
                "usr/lib/x86_64-linux-gnu",
                "usr/lib/aarch64-linux-gnu",
                "usr/lib/x86_64-linux-gnu/nvidia/current",
                "usr/lib/aarch64-linux-gnu/nvidia/current",
                "lib64",
                "lib/x86_64-linux-gnu",
                "lib/aarch64-linux-gnu",
                "usr/lib",
                "usr/local/glibc/usr/lib",
                "usr/lib/wsl/lib",
                ""
            })
    void findsTheLibraryInTheDirectoriesOfDistributions(String directory) throws IOException {
        DriverFinder finder = new DriverFinder(new DriverRoot(root, root));
        assertThatThrownBy(finder::findNvml)
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("No NVIDIA driver below " + root + ":")
                .hasMessageContaining(root.resolve(directory) + "/libnvidia-ml.so.1");

        Path library = library(directory); // which is installed later

        assertThat(finder.findNvml()).isEqualTo(library);
    }

    @Test
    void passesOverADirectoryAnEmptyFileAndADanglingLink() throws IOException {
        Files.createDirectories(root.resolve("usr/lib64/libnvidia-ml.so.1"));
        Path debian = Files.createDirectories(root.resolve("usr/lib/x86_64-linux-gnu"));
        Files.createFile(debian.resolve("libnvidia-ml.so.1"));
        Path arm = Files.createDirectories(root.resolve("usr/lib/aarch64-linux-gnu"));
        Files.createSymbolicLink(arm.resolve("libnvidia-ml.so.1"), root.resolve("not-there"));
        Path library = library("lib64");

        assertThat(new DriverFinder(new DriverRoot(root, root)).findNvml()).isEqualTo(library);
    }

    @Test
    void theRootMayBeALink() throws IOException {
        library("usr/lib64");
        Path link = Files.createSymbolicLink(root.resolve("current"), Path.of("."));
        DriverView view = new DriverView(new DriverRoot(link, link));

        assertThat(new DriverFinder(new DriverRoot(link, link)).findNvml())
                .isEqualTo(link.resolve("usr/lib64/libnvidia-ml.so.1"));
        assertThat(view.time(link)).isEqualTo(view.time(link.resolve("usr/..")));
        assertThat(view.time(link)).isNotEqualTo("none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"opt/bin", "usr/bin", "usr/sbin", "bin", "sbin", "usr/local/bin", "usr/lib/nvidia/current"})
    void findsAProgramInTheDirectoriesOfDistributions(String directory) throws IOException {
        DriverFinder finder = new DriverFinder(new DriverRoot(root, root));
        assertThatThrownBy(() -> finder.findProgram("nvidia-smi"))
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("nvidia-smi is not found below " + root + " in any of")
                .hasMessageContaining(root.resolve(directory).toString());

        Path program = library(directory).resolveSibling("nvidia-smi");
        Files.setPosixFilePermissions(Files.createFile(program), PosixFilePermissions.fromString("rwxr-xr-x"));

        assertThat(finder.findProgram("nvidia-smi")).isEqualTo(program);
    }

    @Test
    void rejectsARelativeRoot() {
        assertThatThrownBy(() -> new DriverRoot(Path.of("driver-root"), root))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("driver-root");
    }

    private Path library(String directory) throws IOException {
        Path file = Files.createDirectories(root.resolve(directory)).resolve("libnvidia-ml.so.1");
        return Files.writeString(file, "ELF");
    }
}
