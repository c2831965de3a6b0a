// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run that names a ServiceAccount shows which rights its manifests lack. */
@Tag("gate")
@Timeout(300)
class MissingRightsIT {

    private static final Path MANIFESTS = Path.of("../testkit/src/test/resources/io/dra4j/testkit/rbac/driver.yaml");
    private static final Path CHARTS_POLICY = Path.of(
            "../../example-fake-driver/archetype/src/main/resources/archetype-resources/chart/templates/admission.yaml");

    @TempDir
    private Path folder;

    private RunOutcome run(UnaryOperator<String> change, String more, String... options) throws Exception {
        Path file = Files.writeString(folder.resolve("driver.yaml"), change.apply(Files.readString(MANIFESTS)));
        Map<String, JsonNode> flags = Map.of(
                "/apiServer/serviceAccount",
                JsonNodeFactory.instance.textNode("gpu-system/gpu-driver"),
                "/apiServer/manifests",
                JsonNodeFactory.instance.arrayNode().add(file.toString()));
        return Runner.run("only: [DRA-PREP-01, DRA-SLICE-11]\n" + more, flags, Runner.process(List.of(options)));
    }

    /** The chart of the archetype lets a driver write the slices of its own node alone. */
    private static String withPolicy(String manifests) {
        try {
            return manifests
                    + "\n---\n"
                    + Files.readString(CHARTS_POLICY)
                            .replace("${artifactId}", "gpu-driver")
                            .replace("{{ .Release.Namespace }}", "gpu-system");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void slicesOfOneNodeAreAdmitted() throws Exception {
        RunOutcome outcome = run(MissingRightsIT::withPolicy, "");

        assertThat(verdict(outcome, "DRA-SLICE-11")).isEqualTo(Verdict.PASS);
        assertThat(outcome.notes().toString()).doesNotContain("Admission");
    }

    @Test
    void slicesOfAllNodesAreDeniedByTheChartsPolicy() throws Exception {
        RunOutcome outcome = run(MissingRightsIT::withPolicy, "timeoutFactor: 0.1", "--variant", "H-7");

        assertThat(Runner.results(outcome, "DRA-SLICE-01").get(0).message())
                .contains("ValidatingAdmissionPolicy 'gpu-driver-own-node'", "may not write slices of node ''");
        assertThat(outcome.notes().toString()).contains("Admission: the API server refused");
        assertThat(outcome.exitCode()).isEqualTo(1);
    }

    private static Verdict verdict(RunOutcome outcome, String id) {
        return Runner.results(outcome, id).get(0).verdict();
    }

    @Test
    void withAllRightsNothingIsRefused() throws Exception {
        RunOutcome outcome = run(manifests -> manifests, "");

        assertThat(outcome.notes())
                .contains("RBAC: the API server refused no request of the ServiceAccount gpu-system/gpu-driver.");
        assertThat(outcome.results())
                .isNotEmpty()
                .allSatisfy(result -> assertThat(result.verdict()).isEqualTo(Verdict.PASS));
    }

    @Test
    @Tag("nightly")
    void theRightToDeleteSlicesIsReportedAsMissing() throws Exception {
        RunOutcome outcome = run(manifests -> manifests.replace("patch, delete]", "patch]"), "");

        assertThat(verdict(outcome, "DRA-PREP-01")).isEqualTo(Verdict.PASS);
        assertThat(verdict(outcome, "DRA-SLICE-11")).isEqualTo(Verdict.FAIL);
        assertThat(outcome.notes().toString())
                .contains("cannot delete resource \"resourceslices\" in API group")
                .contains("add {apiGroups: [\"resource.k8s.io\"], resources: [\"resourceslices\"],"
                        + " verbs: [\"delete\"]} to a ClusterRole");
    }
}
