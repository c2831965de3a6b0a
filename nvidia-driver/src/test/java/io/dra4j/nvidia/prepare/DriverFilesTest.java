// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.standin.LoaderCache;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The files and links of drivers that distributions, installers and vendors put elsewhere. */
class DriverFilesTest {

    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu/";

    @TempDir
    private Path folder;

    private StandInNode node;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "t4");
    }

    private ContainerEdits common() {
        return new Edits(node.roots(), HookProgram.at(node.hook())).common(VERSION);
    }

    private List<String> mounted() {
        return common().mounts().stream().map(Mount::containerPath).toList();
    }

    private List<String> links() {
        return common().hooks().get(0).args().stream()
                .filter(arg -> arg.contains("::"))
                .toList();
    }

    private Path file(String path) throws IOException {
        return file(path, "");
    }

    private Path file(String path, String content) throws IOException {
        Path file = node.root().resolve(path);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, content);
    }

    private void link(String path, String target) throws IOException {
        Path link = node.root().resolve(path);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(target));
    }

    /** Moves the two libraries that every program needs. */
    private void move(String to) throws IOException {
        Files.delete(node.library("libcuda.so.1"));
        Files.createDirectories(node.root().resolve(to));
        for (String name : List.of("libcuda.so." + VERSION, "libnvidia-ml.so." + VERSION)) {
            Files.move(node.library(name), node.root().resolve(to).resolve(name));
        }
    }

    @Nested
    class Links {

        @Test
        void areThoseOfTheNode() throws IOException {
            link(LIBRARIES + "libcuda.so", "libcuda.so.1");
            link(LIBRARIES + "libGLX_nvidia.so.0", "libGLX_nvidia.so." + VERSION);
            link(LIBRARIES + "libnvidia-egl-gbm.so.1", "libnvidia-egl-gbm.so.1.1.1");
            link(LIBRARIES + "vdpau/libvdpau_nvidia.so.1", "libvdpau_nvidia.so." + VERSION);
            link(LIBRARIES + "libGLX_mesa.so.0", "libGLX_mesa.so.0.0.0");

            assertThat(links())
                    .containsExactly(
                            "libGLX_nvidia.so.550.163.01::/" + LIBRARIES + "libGLX_indirect.so.0",
                            "libGLX_nvidia.so.550.163.01::/" + LIBRARIES + "libGLX_nvidia.so.0",
                            "libcuda.so.1::/" + LIBRARIES + "libcuda.so",
                            "libcuda.so.550.163.01::/" + LIBRARIES + "libcuda.so.1",
                            "libnvidia-egl-gbm.so.1.1.1::/" + LIBRARIES + "libnvidia-egl-gbm.so.1",
                            "libvdpau_nvidia.so.550.163.01::/" + LIBRARIES + "vdpau/libvdpau_nvidia.so.1");
        }

        @Test
        void thatProgramsOpenAreMadeWhereTheNodeHasNone() throws IOException {
            file(LIBRARIES + "libnvidia-opticalflow.so." + VERSION);
            file(LIBRARIES + "libnvidia-allocator.so." + VERSION);
            file(LIBRARIES + "nvidia/xorg/libglxserver_nvidia.so." + VERSION);

            assertThat(links())
                    .contains(
                            "libnvidia-opticalflow.so.1::/" + LIBRARIES + "libnvidia-opticalflow.so",
                            "../libnvidia-allocator.so.1::/" + LIBRARIES + "gbm/nvidia-drm_gbm.so",
                            "libglxserver_nvidia.so.550.163.01::/" + LIBRARIES + "nvidia/xorg/libglxserver_nvidia.so");
        }

        @Test
        void inACircleAreLeftOut() throws IOException {
            link(LIBRARIES + "liba.so", "libb.so");
            link(LIBRARIES + "libb.so", "liba.so");

            assertThat(links()).noneMatch(link -> link.contains("liba"));
        }
    }

    @Nested
    class OtherFiles {

        @ParameterizedTest
        @ValueSource(
                strings = {
                    LIBRARIES + "nvidia/xorg/nvidia_drv.so",
                    LIBRARIES + "nvidia/xorg/libglxserver_nvidia.so." + VERSION,
                    "usr/lib64/xorg/modules/drivers/nvidia_drv.so",
                    "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so." + VERSION,
                    "etc/vulkan/icd.d/nvidia_icd.x86_64.json",
                    "etc/vulkan/implicit_layer.d/nvidia_layers.json",
                    "tmp/nvidia-mps/control",
                    "run/nvidia-fabricmanager/socket"
                })
        void areMounted(String path) throws IOException {
            file(path);
            String place = "/" + path.replace("/control", "");

            assertThat(mounted()).contains(place);
            assertThat(common().hooks().get(2).args())
                    .doesNotContain(Path.of(place).getParent() + "");
        }

        @Test
        void ofVulkanInTheDriverRootAreInEtc() throws IOException {
            Path found = file("vulkan/icd.d/nvidia_layers.json");
            file("vulkan/icd.d/nvidia_icd.json"); // which usr/share has, too

            assertThat(common().mounts())
                    .filteredOn(mount -> mount.containerPath().contains("vulkan"))
                    .extracting(Mount::containerPath, Mount::hostPath)
                    .containsExactlyInAnyOrder(
                            tuple("/etc/vulkan/icd.d/nvidia_layers.json", found.toString()),
                            tuple(
                                    "/usr/share/vulkan/icd.d/nvidia_icd.json",
                                    node.root() + "/usr/share/vulkan/icd.d/nvidia_icd.json"));
        }

        @Test
        void ofMpsArePipesThatProgramsWriteTo() throws IOException {
            file("tmp/nvidia-mps/control");

            assertThat(common().mounts())
                    .filteredOn(mount -> mount.containerPath().equals("/tmp/nvidia-mps"))
                    .extracting(Mount::options)
                    .containsExactly(List.of("nosuid", "nodev", "rbind", "rprivate", "noexec"));
        }

        /** Everybody on the node may make one in /tmp. */
        @Test
        void areNotThoseThatALinkInTmpLeadsTo() throws IOException {
            link("tmp/nvidia-mps", "../etc");
            file("etc/shadow");

            assertThat(mounted()).doesNotContain("/tmp/nvidia-mps");
        }
    }

    @Nested
    class Firmware {

        private static final String GSP = "/nvidia/" + VERSION + "/gsp_ga10x.bin";

        private void kernel(Path root, String path, String text) throws IOException {
            Path file = root.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
        }

        private void customPath(String path) throws IOException {
            kernel(node.sysfs(), "module/firmware_class/parameters/path", path);
        }

        private List<String> firmware(Roots roots) {
            Edits edits = new Edits(roots, HookProgram.at(node.hook()));
            return edits.common(VERSION).mounts().stream()
                    .map(Mount::hostPath)
                    .filter(path -> path.contains("gsp"))
                    .toList();
        }

        private List<String> firmware() {
            return firmware(node.roots());
        }

        @ParameterizedTest
        @CsvSource({
            "lib/firmware/updates/6.1.0-9-amd64, lib/firmware/updates",
            "lib/firmware/updates, lib/firmware/6.1.0-9-amd64",
            "lib/firmware/6.1.0-9-amd64, lib/firmware"
        })
        void isThatOfTheKernelsFirstFolder(String first, String second) throws IOException {
            kernel(node.proc(), "sys/kernel/osrelease", "6.1.0-9-amd64");
            Path found = file(first + GSP);
            file(second + GSP);

            assertThat(firmware()).containsExactly(found.toString());
        }

        @Test
        void isFirstThatOfTheCustomPath() throws IOException {
            customPath("/opt/firmware");
            Path found = file("opt/firmware" + GSP);
            file("lib/firmware/updates" + GSP);

            assertThat(firmware()).containsExactly(found.toString());
        }

        @ParameterizedTest
        @ValueSource(strings = {"", " ", "relative", "/not/there"})
        void isTheUsualOneWithoutAUsefulCustomPath(String path) throws IOException {
            customPath(path);

            assertThat(firmware()).containsExactly(node.root() + "/lib/firmware" + GSP);
        }
    }

    @Nested
    class LibrariesElsewhere {

        @Test
        void areFoundDirectlyInTheRoot() throws IOException {
            move("");

            assertThat(mounted()).contains("/libcuda.so." + VERSION, "/libnvidia-ml.so." + VERSION);
        }

        @Test
        void areFoundByTheCacheOfTheLoader() throws IOException {
            move("opt/lib");
            file("opt/lib/libnvidia-nvvm.so." + VERSION);
            LoaderCache.write(node.root(), "/opt/lib32/libcuda.so.1|0x0003", "/opt/lib/libcuda.so.1|0x0303");

            assertThat(mounted()).contains("/opt/lib/libcuda.so." + VERSION, "/opt/lib/libnvidia-nvvm.so." + VERSION);
            assertThat(common().hooks().get(2).args()).contains("/opt/lib");
        }

        @Test
        void areNotLookedForInABrokenCacheWhileTheUsualFoldersHaveThem() throws IOException {
            file("etc/ld.so.cache", "broken");
            assertThat(mounted()).isNotEmpty();

            move("opt/lib");
            assertThatThrownBy(DriverFilesTest.this::common)
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContainingAll("/etc/ld.so.cache", "runs ldconfig");
        }

        @Test
        void areMissedIfTheyAreOfAnotherVersion() throws IOException {
            move("opt/lib");
            Files.createFile(node.library("libcuda.so.535.54.03"));

            assertThatThrownBy(DriverFilesTest.this::common)
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("lacks libcuda.so." + VERSION);
        }
    }
}
