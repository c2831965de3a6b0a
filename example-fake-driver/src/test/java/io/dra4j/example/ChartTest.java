// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.charttest.ChartContract;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.ClaimMetricsContract;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.MonitoringContract;
import io.dra4j.charttest.PagePart;
import io.dra4j.charttest.Right;
import io.dra4j.charttest.StrictDecoder;
import io.dra4j.charttest.WebhookContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The chart of the fake driver, with its webhook, its alerts and dashboards, and the metrics of waiting claims. */
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
    void anExtendedResourceNeedsTheClass() {
        ChartInstallation installation = ChartInstallation.DEFAULT
                .set("deviceClass.create", false)
                .set("deviceClass.extendedResourceName", "example.com/gpu");

        assertThatThrownBy(() -> CHART.render(installation)).hasMessageContaining("needs deviceClass.create");
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

    @Nested
    class Webhook extends WebhookContract {}

    @Nested
    class Monitoring extends MonitoringContract {}

    @Nested
    class ClaimMetrics extends ClaimMetricsContract {}

    /** The chart of projects that the archetype generates, with the rights of the other charts. */
    @Nested
    class OfTheArchetype {

        private static final Path TEMPLATE = Path.of("archetype/src/main/resources/archetype-resources/chart");

        @TempDir
        private Path folder;

        @BeforeEach
        void generate() throws IOException {
            List<Path> files;
            try (Stream<Path> all = Files.walk(TEMPLATE)) {
                files = all.filter(Files::isRegularFile).toList();
            }
            for (Path file : files) {
                Path generated = folder.resolve(TEMPLATE.relativize(file).toString());
                Files.createDirectories(generated.getParent());
                Files.writeString(
                        generated,
                        Files.readString(file)
                                .replace("${artifactId}", "fpga-driver")
                                .replace("${driverName}", "fpga.acme.com"));
            }
        }

        private Manifests manifests() {
            return new HelmChart(folder).render(ChartInstallation.DEFAULT);
        }

        @Test
        void isSound() {
            assertThat(new HelmChart(folder).lint()).isEmpty();
            assertThat(StrictDecoder.problems(manifests())).isEmpty();
            assertThat(manifests().serviceAccount()).isEqualTo("dra-system/fpga-driver");
            assertThat(manifests().yaml()).contains("{seLinuxOptions: {type: spc_t}}", "failureThreshold: 300");
            assertThat(manifests().kinds())
                    .containsExactlyInAnyOrder(
                            "DaemonSet",
                            "ServiceAccount",
                            "ClusterRole",
                            "ClusterRoleBinding",
                            "Role",
                            "RoleBinding",
                            "DeviceClass",
                            "ValidatingAdmissionPolicy",
                            "ValidatingAdmissionPolicyBinding");
        }

        @Test
        void grantsTheRightsOfADriverThatReportsStatus() {
            List<Right> wanted = Right.ofTheDriver().stream()
                    .filter(right -> !right.part().equals("binding"))
                    .toList();

            assertThat(Right.granted(manifests().of(Kind.ClusterRole)))
                    .containsExactlyInAnyOrderElementsOf(wanted.stream()
                            .filter(right -> right.namespace().isEmpty())
                            .map(Right::toString)
                            .toList());
            assertThat(Right.granted(manifests().of(Kind.Role))).containsExactly("/events create");
        }

        @Test
        void endsWithoutMemoryAndLogsInTestsWhyAPrepareFailed() throws IOException {
            assertThat(TEMPLATE.resolveSibling("Dockerfile")).content().contains("-XX:+ExitOnOutOfMemoryError");
            assertThat(TEMPLATE.resolveSibling("src/test/resources/logback-test.xml"))
                    .content()
                    .contains(
                            "<root level=\"WARN\">",
                            "\"io.dra4j.runtime.internal.claim\" level=\"WARN\"",
                            "%msg %kvp%n");
        }

        @Test
        void setsOptionsThatTheDriverHas() {
            DriverContainer container = DriverContainer.of(manifests());

            assertThat(container.arguments()).containsExactly("-v", "0");
            assertThat(Set.of("NODE_NAME", "POD_UID", "HTTP_ENDPOINT"))
                    .containsExactlyInAnyOrderElementsOf(container.environment().keySet());
        }
    }
}
