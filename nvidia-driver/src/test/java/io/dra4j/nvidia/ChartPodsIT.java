// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.ChartPod;
import io.dra4j.charttest.ChartPod.Programs;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.PodContract;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The NVIDIA driver in the pods of its chart and of NVIDIA's. */
@Tag("slow")
class ChartPodsIT extends PodContract {

    @Override
    protected String program() {
        return "gpu-kubelet-plugin";
    }

    @Override
    protected ChartPod pod(DriverContainer container, Path folder) throws Exception {
        StandInNode boards = StandInNode.install(folder.resolve("node"), "h100-80");
        Path programs = Files.createDirectory(folder.resolve("bin"));
        DriverJar.PROGRAM.writeScript(programs.resolve(program()));
        return new ChartPod(
                container,
                "gpu.nvidia.com",
                new Programs(programs, List.of(DriverJar.PATH.getParent(), boards.folder())),
                Map.of("/", boards.root()),
                Map.of(
                        "SYSFS_ROOT", boards.sysfs().toString(),
                        "PROC_ROOT", boards.proc().toString()));
    }
}
