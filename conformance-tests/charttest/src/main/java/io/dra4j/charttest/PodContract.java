// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.ChartPod.Ended;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules for a driver's program in the pods of charts; the test of a driver extends this. */
@Timeout(240)
public abstract class PodContract {

    /** Words of the JDK's own log lines. */
    private static final String[] OF_THE_JDK = {"X509Certificate:", "TLSHandshake:", " httpserver:", "HttpClient"};

    @TempDir
    private Path folder;

    /** The name of the driver's program. */
    protected abstract String program();

    /** Makes the pod, with programs in a folder. */
    protected abstract ChartPod pod(DriverContainer container, Path programs) throws Exception;

    @BeforeEach
    void needMountNamespaces() {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), missing);
    }

    @Test
    void nothingIsFoundInAHealthyPodOfItsOwnChart() throws Exception {
        Manifests manifests = ChartContract.CHART.render(ChartInstallation.DEFAULT.set("logVerbosity", "4"));
        assertNothingFoundIn(DriverContainer.of(manifests));
    }

    @Test
    void nothingIsFoundInAHealthyPodOfThePublishedChart() throws Exception {
        Path chart = Path.of("src/test/resources/published-chart.yaml");
        assertNothingFoundIn(DriverContainer.of(Manifests.read(chart)));
    }

    private void assertNothingFoundIn(DriverContainer container) throws Exception {
        try (ChartPod pod = pod(container, folder)) {
            pod.start();
            KubeletClaim claim = pod.node().allocate("claim", "gpu-0");
            assertThat(pod.node().prepare(claim).complaint()).isEmpty();

            for (String ofTheImage : List.of("/etc", "/usr")) {
                assertThat(pod.exec("touch", ofTheImage + "/written").output()).contains("Read-only file system");
            }
            assertNothingFound(pod.exec(program(), "doctor", "--output=json"));
            assertNothingFound(pod.exec(program(), "audit", "--output=json"));
            assertThat(pod.node().unprepare(claim).complaint()).isEmpty();
            for (String action : List.of("on", "status", "off")) {
                Ended maintenance = pod.exec(program(), "maintenance", action);
                assertThat(maintenance.status())
                        .as(action + maintenance.output())
                        .isZero();
            }
            assertThat(pod.node().log()).contains("registered the driver").doesNotContain(OF_THE_JDK);
        }
    }

    private static void assertNothingFound(Ended command) throws Exception {
        JsonNode report = Manifests.MAPPER.readTree(command.output());
        assertThat(report.path("findings").isArray()).as(command.output()).isTrue();
        assertThat(report.path("findings")).as(command.output()).isEmpty();
        assertThat(report.path("notChecked")).as(command.output()).hasSizeLessThan(6);
    }
}
