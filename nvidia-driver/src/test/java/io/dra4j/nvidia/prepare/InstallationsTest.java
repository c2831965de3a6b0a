// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver's installation that changes while this program runs, and one that is not whole. */
class InstallationsTest {

    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu/";

    @TempDir
    private Path folder;

    private StandInNode node;
    private Edits edits;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "t4");
        edits = new Edits(node.roots(), HookProgram.at(node.hook()));
    }

    private List<String> mounted(String version) {
        return edits.common(version).mounts().stream().map(Mount::containerPath).toList();
    }

    private void refused(Object... words) {
        assertThatThrownBy(() -> edits.common(VERSION))
                .isInstanceOf(PrepareException.class)
                .hasMessageContainingAll(
                        List.of(words).stream().map(Object::toString).toArray(String[]::new));
    }

    @Nested
    class WhileRunning {

        @ParameterizedTest
        @ValueSource(
                strings = {
                    LIBRARIES + "libcuda.so." + VERSION,
                    LIBRARIES + "libnvidia-ml.so." + VERSION,
                    LIBRARIES + "libnvidia-ptxjitcompiler.so." + VERSION,
                    LIBRARIES + "vdpau/libvdpau_nvidia.so." + VERSION,
                    "usr/bin/nvidia-smi",
                    "lib/firmware/nvidia/" + VERSION + "/gsp_ga10x.bin"
                })
        void aFileThatGoesIsMissedByItsNameUntilItIsBack(String file) throws IOException {
            List<String> before = mounted(VERSION);
            Files.delete(node.root().resolve(file));

            refused(Path.of(file).getFileName());
            refused(Path.of(file).getFileName());
            Files.createFile(node.root().resolve(file));
            assertThat(mounted(VERSION)).isEqualTo(before);
        }

        @Test
        void aNewVersionIsFound() throws IOException {
            mounted(VERSION);
            for (String library : List.of("libcuda.so.", "libnvidia-ml.so.")) {
                Files.move(node.library(library + VERSION), node.library(library + "580.95.05"));
            }

            assertThat(mounted("580.95.05"))
                    .contains("/" + LIBRARIES + "libcuda.so.580.95.05", "/" + LIBRARIES + "libnvidia-ml.so.580.95.05")
                    .noneMatch(path -> path.endsWith(VERSION));
            assertThat(edits.common("580.95.05").hooks())
                    .anySatisfy(hook -> assertThat(hook.args()).contains("--host-driver-version=580.95.05"));
        }

        @Test
        void theSameVersionInstalledAgainIsReadAgain() throws IOException {
            mounted(VERSION);
            Files.delete(node.library("libGLX_nvidia.so." + VERSION));
            Path updated = Files.writeString(node.library("libcuda.so.new"), "updated");
            Files.move(updated, node.library("libcuda.so." + VERSION), StandardCopyOption.ATOMIC_MOVE);

            assertThat(mounted(VERSION)).noneMatch(path -> path.contains("libGLX"));
        }

        @Test
        void aLibraryThatComesLaterIsFound() throws IOException {
            mounted(VERSION);
            Files.createFile(node.library("libnvidia-nvvm.so." + VERSION));

            assertThat(mounted(VERSION)).contains("/" + LIBRARIES + "libnvidia-nvvm.so." + VERSION);
        }

        @Test
        void filesOfOtherPackagesMayGoAndComeAsOthers() throws IOException {
            mounted(VERSION);
            Files.move(node.library("libnvidia-egl-gbm.so.1.1.1"), node.library("libnvidia-egl-gbm.so.1.1.2"));
            Files.delete(node.root().resolve("usr/share/vulkan/icd.d/nvidia_icd.json"));

            assertThat(mounted(VERSION))
                    .contains("/" + LIBRARIES + "libnvidia-egl-gbm.so.1.1.2")
                    .noneMatch(path -> path.endsWith("1.1.1") || path.contains("vulkan"));
        }

        @Test
        void socketsAreThoseThatAreThereNow() throws IOException {
            assertThat(mounted(VERSION)).noneMatch(path -> path.endsWith("/socket"));

            Path other = node.root().resolve("var/run/nvidia-fabricmanager/socket");
            Files.createDirectories(other.getParent());
            Files.createFile(other);
            assertThat(mounted(VERSION)).contains("/var/run/nvidia-fabricmanager/socket");
            edits = new Edits(node.roots(), HookProgram.at(node.hook()), Set.of(DaemonSocket.none));
            assertThat(mounted(VERSION)).noneMatch(path -> path.endsWith("/socket"));
        }
    }

    @Nested
    class AtTheFirstLook {

        private static final String JIT = "libnvidia-ptxjitcompiler.so.";

        private Path link(String name, String target) throws IOException {
            return Files.createSymbolicLink(node.library(name), Path.of(target));
        }

        @Test
        void aLinkToARemovedLibraryFails() throws IOException {
            Path link = link(JIT + "1", JIT + VERSION);
            mounted(VERSION);
            edits = new Edits(node.roots(), HookProgram.at(node.hook()));
            Files.delete(node.library(JIT + VERSION));

            refused(link, "links to " + node.library(JIT + VERSION));
        }

        @Test
        void aLibraryThatIsADanglingLinkFails() throws IOException {
            Files.delete(node.library(JIT + VERSION));
            Path link = link(JIT + VERSION, "/opt/gone");

            refused(link, "links to " + node.root().resolve("opt/gone"));
        }

        @Test
        void anAbsoluteLinkIsOneBelowTheRoot() throws IOException {
            link(JIT + "1", "/" + LIBRARIES + JIT + VERSION);

            assertThat(mounted(VERSION)).contains("/" + LIBRARIES + JIT + VERSION);
        }

        @Test
        void linksOfOthersDoNotMatter() throws IOException {
            link("libother.so.3", "libother.so.3.2");
            link("libcuda_of_before.so.1", "libcuda_of_before.so.470.256.02");

            assertThat(mounted(VERSION)).isNotEmpty();
        }

        @Test
        void aFolderThatIsALinkToAnotherIsLookedAtOnce() throws IOException {
            Files.createSymbolicLink(node.root().resolve("lib64"), Path.of("usr/lib/x86_64-linux-gnu"));

            assertThat(mounted(VERSION)).doesNotHaveDuplicates().noneMatch(p -> p.startsWith("/lib64"));
        }
    }
}
