// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Taint;
import io.dra4j.testkit.Scenarios;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.OptionSpec;

@SetsUpLogging
class DriverMainTest extends ProgramFixture {

    @Scenarios("driver-program.txt")
    void aProgramRunsUntilTheSignalOrSaysWhyItDoesNot(String scenario) throws Exception {
        play(scenario);
    }

    @Nested
    class Options {

        @ParameterizedTest
        @CsvSource(textBlock = """
            --driver-name,                      acme.example.com,                 other.example.com
            --kubeconfig,                       null,                             /kube/config
            --cdi-root,                         /var/run/cdi,                     /cdi
            --kubelet-plugins-directory-path,   /var/lib/kubelet/plugins,         /plugins
            --kubelet-registrar-directory-path, /var/lib/kubelet/plugins_registry, /registry
            --proc-root,                        /proc,                            /host/proc
            --pod-uid,                          null,                             uid-1
            --healthcheck-port,                 -1,                               5
            --unhealthy-taint,                  off,                              NoExecute
            --device-policy,                    null,                             /policy
            --http-endpoint,                    null,                             :8080
            --metrics-path,                     /metrics,                         /dra
            --num-cards,                        8,                                3
            --fast,                             false,                            true
            """)
        void haveDefaultsAndAreTakenFromTheEnvironment(String option, String byDefault, String given) {
            environment.put("NODE_NAME", "node-b");
            assertThat(execute()).isZero();
            assertThat(options.nodeName()).isEqualTo("node-b");
            assertThat(value(option)).isEqualTo(byDefault);

            environment.put(option.substring(2).toUpperCase(Locale.ROOT).replace('-', '_'), given);
            assertThat(execute()).isZero();
            assertThat(value(option)).isEqualTo(given);
        }

        @Test
        void ofTheProgramHaveTheirVariablesAndShowThem() {
            environment.putAll(Map.of("NODE_NAME", "n", "HOSTNAME", "pod-1", "LANES", "4", "ACME_LANES", "6"));
            environment.putAll(Map.of("ACME_SPEED", "NEW", "SPEED", "BLOCKED", "W", "WAITING", "NUM_CARDS", "5"));
            AcmeOptions prefixed = new AcmeOptions() {
                @Override
                protected String variable(String name) {
                    return "ACME_" + name;
                }
            };

            assertThat(execute()).isZero();
            assertThat(DriverMain.of(PROGRAM, prefixed, any -> null).execute(main(), filled -> () -> {}))
                    .isZero();
            assertThat(DriverMain.of(PROGRAM, new AcmeOptions(), any -> null).execute(main(), filled -> () -> {}, "-h"))
                    .isZero();

            assertThat(options.hostname).isEqualTo("fabric");
            assertThat(List.of(options.lanes, prefixed.lanes, options.speed, prefixed.nodeName()))
                    .isEqualTo(List.of(4, 6, Thread.State.NEW, "n"));
            assertThat(out())
                    .contains(
                            "--lanes=N",
                            "Of each card. [LANES]",
                            "Default: 2",
                            "--speed=NEW|RUNNABLE|",
                            "[$ACME_SPEED]",
                            "Default: 8",
                            "Default: fabric")
                    .doesNotContain("[HOSTNAME]", "[SPEED]", "Default: 4", "Default: 5");
        }

        @Test
        void thatAreEmptyCountAsNotGiven() {
            environment.put("POD_UID", "");
            environment.put("CDI_ROOT", "");

            execute("--node-name=node-a", "--kubeconfig=");

            assertThat(options.podUid()).isEmpty();
            assertThat(options.kubeconfig()).isEmpty();
            assertThat(options.cdiRoot()).isEqualTo(Path.of("/var/run/cdi"));
        }

        @ParameterizedTest
        @CsvSource({"-1,,", "'',,", "tcp://1:1,,", "0,,:0", "65535,,:65535", "8080,127.0.0.1:8080,127.0.0.1:8080"})
        void takeTheMetricsPortForTheHttpEndpointAlsoInBothForms(
                String port, @Nullable String given, @Nullable String endpoint) {
            environment.put("METRICS_PORT", port);
            environment.put("HTTP_ENDPOINT", given == null ? "" : given);

            assertThat(execute("--node-name=n")).isZero();

            assertThat(options.httpEndpoint()).isEqualTo(Optional.ofNullable(endpoint));
        }

        @ParameterizedTest
        @CsvSource({",,", "NO_SCHEDULE,,NO_SCHEDULE", "NO_SCHEDULE,off,", "NO_SCHEDULE,None,NONE", ",None,NONE"})
        void taintAsTheProgramDoesUnlessTheyAreGiven(
                Taint.@Nullable Effect ofProgram, @Nullable String given, Taint.@Nullable Effect effect) {
            options.taint = Optional.ofNullable(ofProgram);
            environment.put("UNHEALTHY_TAINT", given == null ? "" : given);

            assertThat(execute("--node-name=n")).isZero();

            assertThat(options.unhealthyTaint()).isEqualTo(Optional.ofNullable(effect));
        }
    }

    @Test
    void theHelpNamesEveryOptionWithItsVariableInTheEnvironment() {
        assertThat(execute("--help")).isZero();

        String help = out();
        assertThat(help).startsWith("Usage: acme-driver").contains("Drives Acme cards.");
        for (OptionSpec option : main().line(options).getCommandSpec().options()) {
            assertThat(help.contains(option.longestName())).isEqualTo(!option.hidden());
        }
        assertThat(help)
                .contains("[NODE_NAME]", "[DRIVER_NAME]", "[KUBECONFIG]", "[CDI_ROOT]")
                .contains("[KUBELET_PLUGINS_DIRECTORY_PATH]", "[POD_UID]", "[NUM_CARDS]")
                .contains("[KUBELET_REGISTRAR_DIRECTORY_PATH]", "Default: acme.example.com");
        assertThat(events).isEmpty();
    }
}
