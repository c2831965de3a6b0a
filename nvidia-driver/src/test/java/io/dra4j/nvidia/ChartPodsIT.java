// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.ChartPod;
import io.dra4j.charttest.ChartPod.Programs;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.PodContract;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.PublishedChart;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The NVIDIA driver in the pods of its chart and of NVIDIA's. */
@Tag("slow")
class ChartPodsIT extends PodContract {

    private static final Path JAR = Path.of("target/dra4j-nvidia-driver.jar").toAbsolutePath();

    @Override
    protected String program() {
        return "gpu-kubelet-plugin";
    }

    @Override
    protected DriverContainer published() {
        return DriverContainer.ofDaemonSet(new PublishedChart(Path.of("src/test/resources/published-chart.yaml"))
                .objects("DaemonSet")
                .get(0));
    }

    @Override
    protected ChartPod pod(DriverContainer container, Path folder) throws Exception {
        StandInNode boards = StandInNode.install(folder.resolve("node"), "h100-80");
        Path programs = Files.createDirectory(folder.resolve("bin"));
        Path script = programs.resolve(program());
        Files.writeString(
                script,
                "#!/bin/sh\nexec %s -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -jar %s \"$@\"\n"
                        .formatted(Path.of(System.getProperty("java.home"), "bin", "java"), JAR));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        return new ChartPod(
                container,
                "gpu.nvidia.com",
                new Programs(programs, List.of(JAR.getParent(), boards.folder())),
                Map.of("/", boards.root()),
                Map.of(
                        "SYSFS_ROOT", boards.sysfs().toString(),
                        "PROC_ROOT", boards.proc().toString()));
    }
}
