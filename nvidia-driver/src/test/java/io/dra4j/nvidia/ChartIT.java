// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.InstalledChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The driver as its chart installs it, with its variables, rights and DeviceClasses. */
@Tag("nightly")
@Timeout(120)
class ChartIT {

    private static final List<String> PROGRAM =
            List.of("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", "target/dra4j-nvidia-driver.jar");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"default.yaml, gpu.nvidia.com, gpu-0", "dynamic-mig.yaml, mig.nvidia.com, gpu-0-mig-1g10gb-19-4"})
    void publishesAndPrepares(String values, String deviceClass, String device) throws Exception {
        StandInNode hardware = StandInNode.install(folder.resolve("node"), "h100-80");
        ChartInstallation installation = ChartInstallation.DEFAULT;
        if (!values.equals("default.yaml")) {
            installation = installation.file(Path.of("deploy/values", values));
        }
        Map<String, String> changes = Map.of(
                "NVIDIA_DRIVER_ROOT", hardware.root().toString(),
                "CONTAINER_DRIVER_ROOT", hardware.root().toString(),
                "SYSFS_ROOT", hardware.sysfs().toString(),
                "PROC_ROOT", hardware.proc().toString());
        Manifests manifests = new HelmChart(Path.of("deploy/helm")).render(installation);
        try (InstalledChart chart = new InstalledChart("gpu.nvidia.com", manifests, folder, PROGRAM, changes)) {
            chart.start();
            chart.node().awaitSlices(slices -> slices.toString().contains(device));

            assertThat(chart.devicesOf(deviceClass)).contains(device);
            assertThat(Collections.disjoint(chart.devicesOf("gpu.nvidia.com"), chart.devicesOf("mig.nvidia.com")))
                    .isTrue();
            KubeletClaim claim = chart.node().allocate("claim", device);
            assertThat(chart.node().prepare(claim).complaint()).isEmpty();
            assertThat(chart.node().specs()).hasSize(1);
            assertThat(chart.node().unprepare(claim).complaint()).isEmpty();
            assertThat(chart.node().terminate()).isZero();
            chart.assertNothingRefused();
        }
    }
}
