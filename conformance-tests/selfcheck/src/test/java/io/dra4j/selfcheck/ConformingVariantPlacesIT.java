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
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.MountNamespace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers in a mount namespace: a real API server, and true faults. */
@Tag("nightly")
class ConformingVariantPlacesIT {

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
            Path kubeconfig = kubeconfig(front.url(), own.authority(), client.client());
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

    private Path kubeconfig(String server, String authority, String user) throws Exception {
        return Files.writeString(folder.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                current-context: one
                contexts:
                - name: one
                  context: {cluster: there, user: me}
                clusters:
                - name: there
                  cluster:
                    server: %s
                    %s
                users:
                - name: me
                  user:
                    %s
                    token: %s
                """.formatted(server, authority, user, TOKEN));
    }

    /** Neither has a hook: they could learn of the reboot that they ignore by the boot id alone. */
    @ParameterizedTest
    @CsvSource({"M-67, DRA-RST-05, resolves to nothing", "M-135, DRA-RST-09, which is deleted"})
    void whoIgnoresARebootIsCaughtWithoutAHook(String fault, String id, String message) throws Exception {
        needsNamespace();

        Result result = result(List.of("--fault", fault), id);

        assertThat(result.verdict()).isIn(Verdict.FAIL, Verdict.WARN);
        assertThat(result.message()).contains(message);
    }

    @Test
    void aMissingFolderIsExplained() {
        assertThatThrownBy(() -> result(List.of("--variant", "H-23a"), "DRA-REG-01"))
                .isInstanceOf(DriverUnusable.class)
                .hasMessageContaining("bind: no such file or directory")
                .hasMessageEndingWith("name it in driver.process.makeDirectories");
    }

    private static Result result(List<String> options, String id) throws Exception {
        List<String> command = new ArrayList<>(BareProgram.command());
        command.addAll(options);
        Settings settings = SettingsReader.parse(
                "{driver: {name: gpu.example.com, process: {command: %s}}, only: [%s]}"
                        .formatted(JSON.writeValueAsString(command), id),
                "the test",
                Map.of());
        RunOutcome outcome =
                new Engine(settings, DriverAdapters.of(settings.driver()), Catalogue.load(), Progress.NONE).run();
        return Runner.results(outcome, id).get(0);
    }
}
