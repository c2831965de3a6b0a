// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.TestKeys;
import io.dra4j.testkit.cluster.TlsFront;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.MountNamespace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers as they conform where a run needs options, hooks, a mount namespace, a real API server, or true faults. */
@Tag("nightly")
class ConformingPlacesIT {

    @Nested
    class WithoutAFault {

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        --device-nodes, --gpu-device-status, --faults=gpu-7 NoSchedule odd, --metrics-port={FREE_PORT}, --proc-root={ROOT}/proc | taint, dst | DRA-REG-10, DRA-VER-04, DRA-PREP-17, DRA-CDI-09, DRA-CDI-12, DRA-SLICE-20, DRA-RST-08, DRA-RST-09, DRA-TAINT-02, DRA-TAINT-03, DRA-DST-02, DRA-MET-01
                        --gpu-partitions=2                                                      | adm | DRA-PART-02, DRA-UPG-05
                        --num-devices=130                                                       | adm | DRA-SLICE-04, DRA-SLICE-21
                        --gpu-allow-multiple-allocations                                        | adm | DRA-CAP-02, DRA-UPG-06
                        """)
        void holdsWhatItsOptionsShow(String options, String declares, String requirements) throws Exception {
            List<String> ids = List.of(requirements.split(", "));
            RunOutcome outcome = Runner.run(
                    Runner.withControls(ids),
                    Runner.declaring(declares.split(", ")),
                    Runner.process(List.of(options.split(", "))));

            assertThat(ids)
                    .allSatisfy(id -> assertThat(Runner.results(outcome, id)).isNotEmpty());
            assertThat(outcome.results())
                    .allSatisfy(result ->
                            assertThat(result.verdict()).as(Runner.text(result)).isEqualTo(Verdict.PASS));
        }

        @Test
        void startsStopsAndDiesInThisJvmAsAProcessDoes() throws Exception {
            List<String> ids = List.of(
                    "DRA-REG-09",
                    "DRA-SLICE-19",
                    "DRA-RST-01",
                    "DRA-RST-03",
                    "DRA-RST-06",
                    "DRA-UPG-01",
                    "DRA-UPG-04",
                    "DRA-SHUT-01",
                    "DRA-SHUT-02");
            Map<String, Verdict> hosted = verdicts(ids, Runner.hosted(List.of()));
            Map<String, Verdict> process = verdicts(ids, Runner.process(List.of()));

            assertThat(hosted).isEqualTo(process).hasSizeGreaterThanOrEqualTo(ids.size());
            assertThat(hosted.values()).containsOnly(Verdict.PASS);
        }

        private static Map<String, Verdict> verdicts(List<String> ids, DriverAdapter driver) throws Exception {
            return Runner.run(Runner.only(ids), Runner.declaring(), driver).results().stream()
                    .collect(Collectors.toMap(Result::name, Result::verdict));
        }
    }

    @Nested
    class InAMountNamespace {

        private static final ObjectMapper JSON = new ObjectMapper();
        private static final String TOKEN = "the-suites-own";

        @TempDir
        private Path folder;

        private static void needsNamespace() {
            String missing = MountNamespace.missing();
            assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);
        }

        @ParameterizedTest
        @ValueSource(strings = {"H-20", "H-21", "H-22", "H-23a", "H-25"})
        void hasTheSameVerdictsBeforeARealApiServer(String id) throws Exception {
            needsNamespace();
            TestKeys own = TestKeys.make(folder, "server", "ip:127.0.0.1");
            TestKeys client = TestKeys.make(folder, "client", "");
            try (EmbeddedApiServer api = EmbeddedApiServer.builder().start();
                    TlsFront front = new TlsFront(api.url(), own, client, TOKEN)) {
                String cluster = "server: " + front.url() + "\n    " + own.authority();
                Path kubeconfig = Files.writeString(
                        folder.resolve("kubeconfig"),
                        TlsFront.kubeconfig(cluster, client.client() + "\n    token: " + TOKEN));
                RunOutcome outcome = Runner.run(
                        AlteredDrivers.variant(id),
                        "only: [DRA-INFO-03, DRA-PREP-01, DRA-CDI-02, DRA-SLICE-01]",
                        Map.of("/apiServer/kubeconfig", TextNode.valueOf(kubeconfig.toString())));

                assertThat(outcome.results())
                        .isNotEmpty()
                        .allSatisfy(r -> assertThat(r.verdict()).as(r::message).isEqualTo(Verdict.PASS));
                assertThat(front.authorizations()).isNotEmpty().containsOnly("Bearer " + TOKEN);
            }
        }

        /** Neither has a hook: they could learn of the reboot that they ignore by the boot id alone. */
        @ParameterizedTest
        @CsvSource({"M-67, DRA-RST-05, resolves to nothing", "M-135, DRA-RST-09, which is deleted"})
        void whoIgnoresARebootIsCaughtWithoutAHook(String fault, String id, String message) throws Exception {
            needsNamespace();

            Result result = result("--fault", fault, id);

            assertThat(result.verdict()).isIn(Verdict.FAIL, Verdict.WARN);
            assertThat(result.message()).contains(message);
        }

        @Test
        void aMissingFolderIsExplained() {
            assertThatThrownBy(() -> result("--variant", "H-23a", "DRA-REG-01"))
                    .isInstanceOf(DriverUnusable.class)
                    .hasMessageContaining("bind: no such file or directory")
                    .hasMessageEndingWith("name it in driver.process.makeDirectories");
        }

        private static Result result(String option, String value, String id) throws Exception {
            Settings settings = SettingsReader.parse(
                    "{driver: {name: gpu.example.com, process: {command: %s}}, only: [%s]}"
                            .formatted(JSON.writeValueAsString(Programs.bare(option, value)), id),
                    "the test",
                    Map.of());
            RunOutcome outcome =
                    new Engine(settings, DriverAdapters.of(settings.driver()), Catalogue.load(), Progress.NONE).run();
            return Runner.results(outcome, id).get(0);
        }
    }
}
