// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.HelmChart;
import io.dra4j.testkit.webhook.WebhookProgramContract;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The webhook of the NVIDIA driver, as its chart starts it with one of two feature gates. */
@Tag("nightly")
class WebhookProgramIT extends WebhookProgramContract {

    private static final DriverContainer CONTAINER = DriverContainer.ofDeployment(new HelmChart(Path.of("deploy/helm"))
            .render(ChartInstallation.DEFAULT
                    .set("webhook.enabled", true)
                    .set("featureGates.TimeSlicingSettings", true)));

    @Override
    protected List<String> program() {
        return List.of("java", "-XX:TieredStopAtLevel=1", "-jar", "target/dra4j-nvidia-driver.jar");
    }

    @Override
    protected List<String> arguments() {
        return CONTAINER.arguments();
    }

    @Override
    protected Map<String, String> environment() {
        return CONTAINER.environment();
    }

    private static String gpuConfig(String strategy) {
        return """
        {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "GpuConfig", "sharing": {"strategy": "%s"}}
        """.formatted(strategy);
    }

    @Override
    protected String accepted() {
        return gpuConfig("TimeSlicing");
    }

    @Override
    protected String refused() {
        return gpuConfig("MPS");
    }

    @Override
    protected String message() {
        return """
        config 0 from the claim: GpuConfig: "MPS" is selected as the GPU sharing strategy, but the \
        "MPSSupport" feature gate is not enabled: the driver has to be started with \
        --feature-gates=MPSSupport=true""";
    }
}
