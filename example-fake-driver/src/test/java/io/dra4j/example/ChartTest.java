// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.charttest.ChartContract;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.PagePart;
import io.dra4j.charttest.Right;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The chart of the fake driver. */
class ChartTest extends ChartContract {

    @Override
    protected String driver() {
        return "gpu.example.com";
    }

    @Override
    protected String help() {
        return new CommandLine(new FakeDriverOptions()).getUsageMessage();
    }

    @ParameterizedTest
    @CsvSource({
        "net, gpuDeviceStatus",
        "cpu, gpuDeviceMetadata",
        "net, gpuAllowMultipleAllocations",
        "gpu, netDeviceStatus"
    })
    void whatDoesNothingWithAProfileIsRefused(String profile, String value) {
        ChartInstallation installation =
                ChartInstallation.DEFAULT.set("deviceProfile", profile).set(value, true);

        assertThatThrownBy(() -> CHART.render(installation))
                .hasMessageContaining(value)
                .hasMessageContaining("deviceProfile");
    }

    @Test
    void rightsGrowWithTheParts() {
        Manifests all = CHART.render(
                ChartInstallation.DEFAULT.set("gpuDeviceStatus", true).set("kubeletPlugin.bindingConditions", true));

        assertThat(Right.ofTheDriver().stream()
                        .filter(right -> right.namespace().isEmpty()))
                .map(Right::toString)
                .containsExactlyElementsOf(Right.granted(all.of(Kind.ClusterRole)));
        assertThat(Right.granted(CHART.render(ChartInstallation.DEFAULT).of(Kind.ClusterRole)))
                .doesNotContain("resource.k8s.io/resourceclaims/status patch")
                .doesNotContain("resource.k8s.io/resourceclaims watch");
        assertThat(CHART.render(ChartInstallation.DEFAULT.set("rbac.events", false))
                        .of(Kind.Role))
                .isEmpty();
    }

    @Test
    void thePageOfRightsIsUpToDate() {
        String rows = Right.all().stream()
                .map(right -> "| `%s` | `%s` | `%s` | %s | %s | %s |\n"
                        .formatted(
                                right.group(),
                                right.resource(),
                                right.verb(),
                                right.part(),
                                right.why(),
                                right.without()))
                .collect(Collectors.joining())
                .replace("| `` |", "| core |");
        new PagePart(Path.of("../docs-site/reference/charts.md"), "rights.yaml")
                .assertIs(
                        "| API group | resource | verb | for | why | without it |\n|---|---|---|---|---|---|\n" + rows);
    }
}
