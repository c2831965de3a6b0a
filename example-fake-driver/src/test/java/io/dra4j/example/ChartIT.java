// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.InstalledChart;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fake driver as its chart installs it: its variables, its rights, its DeviceClass. */
@Tag("gate")
@Timeout(120)
class ChartIT {

    private static final List<String> PROGRAM = DriverJar.command();

    @TempDir
    private Path folder;

    private InstalledChart install(String driver, ChartInstallation installation) {
        return new InstalledChart(
                driver, new HelmChart(Path.of("deploy/helm")).render(installation), folder, PROGRAM, Map.of());
    }

    @Test
    void theDefaultsPublishAndPrepare() throws Exception {
        try (InstalledChart chart = install("gpu.example.com", ChartInstallation.DEFAULT)) {
            chart.start();
            chart.node().awaitSlices(slices -> !slices.isEmpty());

            assertThat(chart.devicesOf("gpu.example.com")).hasSize(8).contains("gpu-0");
            KubeletClaim claim = chart.node().allocate("claim", "gpu-0");
            assertThat(chart.node().prepare(claim).complaint()).isEmpty();
            assertThat(chart.node().specs()).hasSize(1);
            assertThat(chart.node().unprepare(claim).complaint()).isEmpty();
            assertThat(chart.node().terminate()).isZero();
            chart.assertNothingRefused();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "net.yaml, net.example.com, nic-0, hardwareAddress",
        "features.yaml, gpu.example.com, gpu-0-full, LATEST-GPU-MODEL"
    })
    void valueSetsReportTheStatusOfClaims(String values, String driver, String device, String reported)
            throws Exception {
        ChartInstallation installation = ChartInstallation.DEFAULT.file(Path.of("deploy/values", values));
        try (InstalledChart chart = install(driver, installation)) {
            chart.start();
            chart.node().awaitSlices(slices -> slices.toString().contains(device));

            assertThat(chart.devicesOf(driver)).contains(device);
            KubeletClaim claim = chart.node().allocate("claim", device);
            assertThat(chart.node().prepare(claim).complaint()).isEmpty();
            chart.node()
                    .api()
                    .store()
                    .awaitObject(
                            "resourceclaims",
                            one -> one.path("status").toString().contains(reported),
                            TestNode.TIMEOUT);
            chart.assertNothingRefused();
        }
    }
}
