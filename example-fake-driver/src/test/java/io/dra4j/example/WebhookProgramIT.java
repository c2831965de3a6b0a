// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.HelmChart;
import io.dra4j.testkit.webhook.WebhookProgramContract;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The webhook of the fake driver, as its chart starts it. */
@Tag("gate")
class WebhookProgramIT extends WebhookProgramContract {

    private static final DriverContainer CONTAINER = DriverContainer.ofDeployment(
            new HelmChart(Path.of("deploy/helm")).render(ChartInstallation.DEFAULT.set("webhook.enabled", true)));

    @Override
    protected List<String> program() {
        return DriverJar.command();
    }

    @Override
    protected List<String> arguments() {
        return CONTAINER.arguments();
    }

    @Override
    protected Map<String, String> environment() {
        return CONTAINER.environment();
    }

    @Override
    protected String accepted() {
        return "{\"apiVersion\": \"gpu.resource.example.com/v1alpha1\", \"kind\": \"GpuConfig\"}";
    }

    @Override
    protected String refused() {
        return """
        {"apiVersion": "gpu.resource.example.com/v1alpha1", "kind": "GpuConfig", "colour": "red"}
        """;
    }

    @Override
    protected String message() {
        return "config 0 from the claim: GpuConfig: unknown field colour; known are sharing";
    }
}
