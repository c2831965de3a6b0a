// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.PublishedChart;
import io.dra4j.testkit.driver.Ended;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The environment of the chart of NVIDIA's driver with feature gates that are on. */
@Tag("nightly")
class ChartEnvironmentIT {

    /** The variables of the chart, without its ports, and those of this driver that are empty. */
    private static Map<String, String> chart() {
        Map<String, String> environment = new PublishedChart(Path.of("src/test/resources/published-chart.yaml"))
                .container("gpus")
                .onTestNode();
        environment.keySet().removeAll(List.of("HTTP_ENDPOINT", "HEALTHCHECK_PORT"));
        environment.putAll(Map.of("DYNAMIC_MIG", "", "IGNORE_UNKNOWN_GATES", ""));
        return environment;
    }

    @TempDir
    private Path folder;

    @Test
    void startsTheDriver() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        Map<String, String> environment = chart();
        environment.put("FEATURE_GATES", "DynamicMIG=true,MPSSupport=false,");
        String[] goOptions = {"-v", "4", "--namespace=dra", "--image-name=x", "--kube-api-qps=5"};

        try (TestContext context =
                DriverJar.context(DriverJar.command(folder), environment, node, "chart", goOptions)) {
            assertThat(context.devices().all())
                    .extracting(device -> device.name())
                    .contains("gpu-0", "gpu-0-mig-1g10gb-19-4");
        }
    }

    @Test
    void endsWithTheNameOfAGateThatThisDriverLacks() throws Exception {
        Map<String, String> environment = chart();
        environment.put("FEATURE_GATES", "AllAlpha=true,");

        Ended driver = Ended.of(
                environment,
                List.of(Ended.jdk("java"), "-jar", "target/dra4j-nvidia-driver.jar", "--node-name=node-1"));

        assertThat(driver.output()).contains("feature gate AllAlpha is on");
        assertThat(driver.status()).isOne();
    }
}
