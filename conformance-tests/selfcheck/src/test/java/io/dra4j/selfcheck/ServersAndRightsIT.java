// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs before an API server that is not the suite's own, and with a ServiceAccount whose manifests lack rights. */
@Tag("gate")
class ServersAndRightsIT {

    @Nested
    class SharedServer {

        private static final String FEW =
                "DRA-PREP-01, DRA-PREP-18, DRA-UNP-04, DRA-CDI-06, DRA-SLICE-01, DRA-SLICE-15, DRA-SLICE-19";

        @TempDir
        private Path folder;

        @AutoClose
        private EmbeddedApiServer server;

        @BeforeEach
        void start() throws Exception {
            server = EmbeddedApiServer.builder().start();
            server.writeKubeconfig(folder.resolve("kubeconfig"));
        }

        private RunOutcome run(List<String> arguments, String only, Map<String, JsonNode> more) throws Exception {
            Map<String, JsonNode> flags = new HashMap<>(more);
            flags.put(
                    "/apiServer/kubeconfig",
                    TextNode.valueOf(folder.resolve("kubeconfig").toString()));
            return Runner.run("only: [" + only + "]", flags, Runner.hosted(arguments));
        }

        private static Map<String, JsonNode> shape(String id) throws IOException {
            return Runner.settings(AlteredDrivers.variant(id));
        }

        private static Stream<String> bad(RunOutcome outcome) {
            return outcome.results().stream()
                    .filter(result -> result.verdict() != Verdict.PASS)
                    .map(Runner::text);
        }

        @Test
        void twoRunsAtOnceDoNotMeetAndLeaveNothing() {
            List<CompletableFuture<RunOutcome>> runs = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                runs.add(CompletableFuture.supplyAsync(this::few));
            }

            List<RunOutcome> outcomes =
                    runs.stream().map(CompletableFuture::join).toList();

            assertThat(outcomes).allSatisfy(outcome -> assertThat(bad(outcome)).isEmpty());
            assertThat(outcomes)
                    .flatExtracting(RunOutcome::notes)
                    .noneMatch(note -> note.contains(" stays ") || note.contains("removed"));
            assertThat(names("nodes")).noneMatch(name -> name.startsWith("dra-conformance"));
            assertThat(names("namespaces")).noneMatch(name -> name.startsWith("dra-conformance"));
            assertThat(names("resourceslices")).isEmpty();
        }

        private RunOutcome few() {
            try {
                return run(List.of(), FEW, Map.of());
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private List<String> names(String resource) {
            return server.store().list(resource).stream()
                    .map(object -> object.at("/metadata/name").asText())
                    .toList();
        }

        @Test
        void aDriverThatTakesAllOrNothingIsTestedWithItsShapeAndBlamedWithout() throws Exception {
            RunOutcome outcome = run(List.of("--variant", "H-27"), FEW + ", DRA-PREP-07", shape("H-27"));

            assertThat(bad(outcome))
                    .isNotEmpty()
                    .allSatisfy(text -> assertThat(text).contains("DRA-PREP-07", "UNTESTED", "leave room for 1"));
            assertThat(outcome.exitCode()).isZero(); // the driver cannot do more
            assertThat(bad(run(List.of("--variant", "H-27"), "DRA-PREP-01", Map.of())))
                    .isNotEmpty()
                    .allSatisfy(text -> assertThat(text).contains("1 of 8 devices"));
        }

        @Test
        void aFaultIsFoundByClaimsOfTheShapeToo() throws Exception {
            RunOutcome outcome =
                    run(List.of("--variant", "H-27", "--fault", "M-64"), "DRA-PREP-01, DRA-CDI-06", shape("H-27"));

            assertThat(outcome.results())
                    .filteredOn(result -> result.verdict() == Verdict.FAIL)
                    .extracting(Result::name)
                    .allMatch(name -> name.startsWith("cdi.DRA-CDI-06"))
                    .isNotEmpty();
        }

        @Test
        void aShapeThatGetsNoDeviceEndsTheRun() throws Exception {
            Map<String, JsonNode> claims = new HashMap<>(shape("H-27"));
            String nine = claims.get("/driver/claims").toString().replace("\"allocationMode\":\"All\"", "\"count\":9");
            claims.put("/driver/claims", new YAMLMapper().readTree(nine));

            assertThatThrownBy(() -> run(List.of(), "DRA-PREP-01", claims))
                    .isInstanceOf(SettingsException.class)
                    .hasMessageContainingAll("driver.claims", "all-gpus", "8 that are published", "9 device(s)");
        }
    }

    @Nested
    @Timeout(300)
    class MissingRights {

        private static final Path MANIFESTS =
                Path.of("../testkit/src/test/resources/io/dra4j/testkit/rbac/driver.yaml");
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

        /** The chart of the archetype lets a driver write only the slices of its node. */
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
            RunOutcome outcome = run(MissingRights::withPolicy, "");

            assertThat(verdict(outcome, "DRA-SLICE-11")).isEqualTo(Verdict.PASS);
            assertThat(outcome.notes().toString()).doesNotContain("Admission");
        }

        @Test
        void slicesOfAllNodesAreDeniedByTheChartsPolicy() throws Exception {
            RunOutcome outcome = run(MissingRights::withPolicy, "timeoutFactor: 0.1", "--variant", "H-7");

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
}
