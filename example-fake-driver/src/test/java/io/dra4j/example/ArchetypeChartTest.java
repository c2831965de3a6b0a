// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.Right;
import io.dra4j.charttest.StrictDecoder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chart of projects that the archetype generates, with the rights of the other charts. */
class ArchetypeChartTest {

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
                .contains("<root level=\"WARN\">", "\"io.dra4j.runtime.internal.claim\" level=\"WARN\"", "%msg %kvp%n");
    }

    @Test
    void setsOptionsThatTheDriverHas() {
        DriverContainer container = DriverContainer.of(manifests());

        assertThat(container.arguments()).containsExactly("-v", "0");
        assertThat(Set.of("NODE_NAME", "POD_UID", "HTTP_ENDPOINT"))
                .containsExactlyInAnyOrderElementsOf(container.environment().keySet());
    }
}
