// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.standin.LoaderCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class DriverFinderTest {

    @TempDir
    Path root;

    @ParameterizedTest
    @FieldSource({"io.dra4j.nvidia.node.Places#LIBRARIES", "io.dra4j.nvidia.node.Places#LIBRARIES_ELSEWHERE"})
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

    @Test
    void isNotSearchedForAgainWhileTheLibraryStays() throws IOException {
        Path library = library("opt");
        LoaderCache.write(root, "/opt/libnvidia-ml.so.1|0x0303");
        InstalledDriver driver = new InstalledDriver(new DriverFinder(new DriverRoot(root, root)), root, root);
        String before = driver.fingerprint();

        Files.delete(root.resolve("etc/ld.so.cache"));

        assertThat(driver.fingerprint()).isEqualTo(before).startsWith(library + " ");
        Files.delete(library);
        assertThat(driver.fingerprint()).isEqualTo("none ");
    }

    @ParameterizedTest
    @FieldSource("io.dra4j.nvidia.node.Places#PROGRAMS")
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
