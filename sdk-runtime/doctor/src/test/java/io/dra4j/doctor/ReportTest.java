// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {

    private static final Check HEALTHY =
            Check.of("server-version", () -> CheckResult.healthy("v1.36.0 serves resource.k8s.io/v1"));

    private static final Check BLIND = Check.of("kubelet-gates", () -> {
        throw new NotCheckedException("you may not get nodes/proxy");
    });

    private static final Check FOUND = Check.of(
            "cdi-disabled",
            () -> new CheckResult("", List.of(finding(Severity.WARNING, "file b"), finding(Severity.ERROR, "file a"))));

    private static Finding finding(Severity severity, String object) {
        return new Finding(
                "cdi-disabled",
                severity,
                object,
                "CDI is off in containerd 1.7.27",
                "the container runtime ignores the devices that the driver names, so that each"
                        + " container with a claim fails to start",
                List.of("sudo fix " + "x".repeat(120), "sudo systemctl restart containerd"));
    }

    @Test
    void aHealthySetUpIsALineForEachCheck() {
        Report report = Report.of("node gpu-1", List.of(HEALTHY));

        assertThat(report.exitStatus()).isZero();
        assertThat(report.text()).isEqualTo("""
                        doctor: node gpu-1

                          ok           server-version  v1.36.0 serves resource.k8s.io/v1

                        1 check ran: nothing found
                        """);
    }

    @Test
    void aCheckThatCannotLookIsNotHealthy() {
        Report report = Report.of("node gpu-1", List.of(HEALTHY, BLIND));

        assertThat(report.exitStatus()).isEqualTo(2);
        assertThat(report.text())
                .contains("not checked  kubelet-gates   you may not get nodes/proxy")
                .endsWith("1 check ran: nothing found; 1 check could not run\n");
    }

    @Test
    void aDefectOfOneCheckDoesNotLoseTheOthers() {
        Check defective =
                Check.of("cdi", () -> CheckResult.healthy(List.<String>of().get(0)));

        Report report = Report.of("node gpu-1", List.of(defective, FOUND));

        assertThat(report.findings()).hasSize(2);
        assertThat(report.text()).containsPattern("not checked  cdi +unexpected java.lang.*IndexOutOfBounds");
    }

    @Test
    void findingsSayWhatAndWhyAndHowToMendIt() {
        Report report = Report.of("node gpu-1", List.of(BLIND, FOUND));

        assertThat(report.exitStatus()).isEqualTo(1);
        assertThat(report.findings()).extracting(Finding::object).containsExactly("file a", "file b");
        assertThat(report.text())
                .contains("""
                        error cdi-disabled, file a: CDI is off in containerd 1.7.27
                          why: the container runtime ignores the devices that the driver names, so that each container with
                               a claim fails to start
                          fix: sudo fix %s
                               sudo systemctl restart containerd
                        """.formatted("x".repeat(120)))
                .endsWith("1 check ran: 2 findings; 1 check could not run\n");
    }

    @Test
    void toolsGetJson() throws Exception {
        Report report = Report.of("node gpü-1", List.of(HEALTHY, BLIND, FOUND));

        JsonNode json = new ObjectMapper().readTree(report.json().getBytes(StandardCharsets.US_ASCII));

        assertThat(json.path("subject").asText()).isEqualTo("node gpü-1");
        assertThat(json.path("exitStatus").asInt()).isEqualTo(1);
        assertThat(json.at("/findings/0/severity").asText()).isEqualTo("error");
        assertThat(json.at("/findings/0/fix/1").asText()).isEqualTo("sudo systemctl restart containerd");
        assertThat(json.at("/findings/2").isMissingNode()).isTrue();
        assertThat(json.path("notChecked").toString())
                .isEqualTo("[{\"id\":\"kubelet-gates\",\"reason\":\"you may not get nodes/proxy\"}]");
        assertThat(json.at("/healthy/0/id").asText()).isEqualTo("server-version");
    }

    @Test
    void aFindingWithoutAMendIsRefused() {
        assertThatThrownBy(() -> new Finding("a", Severity.ERROR, "b", "c", "d", List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
