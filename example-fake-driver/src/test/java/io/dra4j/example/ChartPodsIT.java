// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.charttest.ChartPod;
import io.dra4j.charttest.ChartPod.Programs;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.PodContract;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The fake driver in the pods of its chart and of the community's. */
@Tag("slow")
class ChartPodsIT extends PodContract {

    @Override
    protected String program() {
        return "dra-example-kubeletplugin";
    }

    @Override
    protected ChartPod pod(DriverContainer container, Path folder) throws Exception {
        Launchers.in(folder);
        Programs programs = new Programs(folder, List.of(DriverJar.PATH.getParent()));
        return new ChartPod(container, "gpu.example.com", programs, Map.of(), Map.of());
    }
}
