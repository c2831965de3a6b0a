// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.charttest.PagePart;
import io.dra4j.doctor.Finding;
import io.dra4j.nvidia.node.DriverFinder;
import io.dra4j.nvidia.node.DriverRoot;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.probe.ProbeMain;
import io.dra4j.nvidia.standin.Platform;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The files of each platform, seen at another place than on the node: probe, CDI edits and doctor. */
@Tag("gate")
class PlatformsTest extends DoctorOnBoards {

    private static final int NOT_SUPPORTED = 3;

    private static final Map<String, String> OPTIONS = Map.of(
            "nvidiaDriverRoot", "--nvidia-driver-root=",
            "driverFolders.libraries", "--driver-library-folders=",
            "driverFolders.programs", "--driver-program-folders=");

    private StandInNode boards;
    private List<String> options = List.of();

    static List<Platform> platforms() throws IOException {
        return Platform.all();
    }

    private void install(Platform platform) throws IOException {
        boards = StandInNode.install(folder.resolve("boards"), "t4");
        platform.create(folder, boards);
        Files.createDirectories(kubelet("plugins"));
        options = new ArrayList<>(
                List.of("--container-driver-root=" + here(platform.text("root")), "--sysfs-root=" + boards.sysfs()));
        platform.values().forEach((value, text) -> options.add(OPTIONS.get(value) + folders(text)));
    }

    /** Returns the option's form of a list. */
    private static String folders(String value) {
        return value.replaceAll("[\\[\\]]", "");
    }

    private Path here(String onNode) {
        return folder.resolve(Path.of("/").relativize(Path.of(onNode)));
    }

    private NvidiaOptions driver() {
        List<String> all = ofNode(boards, "--container-dev-root=" + folder.resolve("dev"));
        all.addAll(options);
        return parsed(all);
    }

    private String probe(int status) {
        StringWriter out = new StringWriter();
        PrintWriter printed = new PrintWriter(out, true);
        CommandLine command = new CommandLine(new ProbeMain()).setOut(printed).setErr(printed);
        assertThat(command.execute(options.toArray(String[]::new)))
                .as(out::toString)
                .isEqualTo(status);
        return out.toString();
    }

    @ParameterizedTest
    @MethodSource("platforms")
    void hasWhatProgramsNeed(Platform platform) throws IOException {
        install(platform);
        if (!platform.text("refused").isEmpty()) {
            refuses(platform);
            return;
        }

        assertThat(probe(0)).contains("GPU-");
        assertThat(driver().install().installation(boards.proc()).library()).isEqualTo(here(platform.text("nvml")));
        assertThat(finder(platform).findProgram("nvidia-smi")).isEqualTo(here(platform.text("smi")));
        Edits edits = driver().edits();
        for (Gpu gpu : gpus()) {
            edits.of(gpu, null);
        }
        holds(edits.common(StandInNode.VERSION), platform);
        assertThat(report(driver()).findings()).isEmpty();
    }

    private List<Gpu> gpus() {
        return List.of(boards.nvml().read().gpus().get(0));
    }

    private DriverFinder finder(Platform platform) {
        List<Path> programs = Stream.ofNullable(platform.values().get("driverFolders.programs"))
                .map(text -> Path.of(folders(text)))
                .toList();
        return new DriverFinder(
                new DriverRoot(here(platform.text("root")), Path.of(platform.text("root")), List.of(), programs));
    }

    private static void holds(ContainerEdits edits, Platform platform) {
        assertThat(edits.mounts())
                .extracting(mount -> mount.containerPath().equals(mount.hostPath())
                        ? mount.containerPath()
                        : mount.containerPath() + " < " + mount.hostPath())
                .containsExactlyInAnyOrderElementsOf(platform.list("mounts"));
        assertThat(edits.hooks().get(0).args()).containsAll(platform.list("links"));
        List<String> nodes = new ArrayList<>(platform.list("nodes"));
        nodes.addAll(List.of("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"));
        assertThat(edits.deviceNodes())
                .extracting(node -> Objects.requireNonNullElse(node.hostPath(), node.path()))
                .containsExactlyInAnyOrderElementsOf(
                        nodes.stream().map(name -> platform.dev() + "/" + name).toList());
    }

    private void refuses(Platform platform) {
        Path library = here(platform.text("nvml"));
        assertThat(driver().install().installation(boards.proc()).library()).isEqualTo(library);
        probe(0); // which makes the state
        platform.state(folder).fails("nvmlDeviceGetMinorNumber", NOT_SUPPORTED);

        assertThat(probe(1)).containsPattern("GPU-[0-9a-f-]+:? " + platform.text("refused"));
        assertThat(report(driver()).findings()).singleElement().satisfies((Finding finding) -> {
            assertThat(finding.id()).isEqualTo("nvml");
            assertThat(finding.what()).containsPattern("GPU-[0-9a-f-]+:? " + platform.text("refused"));
        });
    }

    @Test
    void areOnThePage() throws IOException {
        String rows = Platform.all().stream().map(PlatformsTest::row).collect(Collectors.joining());
        new PagePart(Path.of("../docs-site/how-to/install-on-platforms.md"), "PlatformsTest")
                .assertIs(
                        "| platform | values of the chart | NVIDIA's library and program on the node | by |\n|---|---|---|---|\n"
                                + rows);
    }

    private static String row(Platform platform) {
        String values = platform.values().entrySet().stream()
                .map(value -> "`%s: %s`".formatted(value.getKey(), value.getValue()))
                .collect(Collectors.joining(", "));
        String folders = Stream.of("nvml", "smi")
                .map(platform::text)
                .filter(file -> !file.isEmpty())
                .map(file -> "`%s`".formatted(Path.of(file).getParent()))
                .collect(Collectors.joining(", "));
        String refused = platform.text("refused");
        return "| %s | %s | %s | %s |%n"
                .formatted(
                        platform.text("name"),
                        refused.isEmpty() ? values.isEmpty() ? "none" : values : "not supported: each GPU " + refused,
                        folders,
                        platform.text("from"));
    }
}
