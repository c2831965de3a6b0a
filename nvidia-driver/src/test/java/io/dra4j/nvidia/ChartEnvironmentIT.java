// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The environment that the chart of NVIDIA's driver gives to its container. */
class ChartEnvironmentIT {

    /** The variables of the chart that the test's own node does not set. */
    private static final Map<String, String> CHART =
            Map.ofEntries(
                    Map.entry("METRICS_PATH", "/metrics"),
                    Map.entry("LOG_VERBOSITY", "4"),
                    Map.entry("MASK_NVIDIA_DRIVER_PARAMS", ""),
                    Map.entry("NVIDIA_VISIBLE_DEVICES", "void"),
                    Map.entry("NVIDIA_MIG_CONFIG_DEVICES", "all"),
                    Map.entry("HOST_ROOT", "/host-root"),
                    Map.entry("NAMESPACE", "dra"),
                    Map.entry("SERVICE_ACCOUNT_NAME", "dra-kubeletplugin"),
                    Map.entry("IMAGE_NAME", "registry.example.com/dra:v0.5"),
                    Map.entry("IMAGE_PULL_SECRETS", ""),
                    Map.entry("IMAGE_PULL_POLICY", "IfNotPresent"),
                    Map.entry("NVIDIA_CDI_HOOK_PATH", ""),
                    Map.entry("CONSUMABLE_SHARES", "disabled"),
                    Map.entry("DYNAMIC_MIG", ""),
                    Map.entry("IGNORE_UNKNOWN_GATES", ""));

    @TempDir private Path folder;

    @Test
    void startsTheDriver() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        Map<String, String> environment = new HashMap<>(CHART);
        environment.put("FEATURE_GATES", "DynamicMIG=true,MPSSupport=false,");
        String[] goOptions = {"-v", "4", "--namespace=dra", "--image-name=x", "--kube-api-qps=5"};

        try (TestContext context =
                DriverJar.context(
                        DriverJar.command(folder), environment, node, "chart", goOptions)) {
            assertThat(context.devices().all())
                    .extracting(device -> device.name())
                    .contains("gpu-0", "gpu-0-mig-1g10gb-19-4");
        }
    }

    @Test
    void endsWithTheNameOfAGateThatThisDriverLacks() throws Exception {
        List<String> command =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-jar",
                        "target/dra4j-nvidia-driver.jar",
                        "--node-name=node-1");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(CHART);
        builder.environment().put("FEATURE_GATES", "PassthroughSupport=true,");

        Process driver = builder.start();

        assertThat(new String(driver.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("feature gate PassthroughSupport is on");
        assertThat(driver.waitFor()).isOne();
    }
}
