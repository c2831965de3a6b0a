// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.error.DraException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

@SetsUpLogging
class DriverMainTest {

    /** An option at the begin of its line in a help text. */
    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^(  |  -[a-z], | {6}))--[a-z-]+");

    private static final DriverProgram PROGRAM =
            new DriverProgram("acme-driver", "Drives Acme cards.", "acme.example.com", DriverMainTest.class);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final Ending ending = new Ending();
    private final AcmeOptions options = new AcmeOptions();

    private int execute(String... args) {
        return execute(filled -> new RecordedRun(), args);
    }

    private int execute(Function<AcmeOptions, DriverMain.Run> assembly, String... args) {
        return main().execute(args, PROGRAM, options, assembly);
    }

    private DriverMain main() {
        ending.request(); // as if the signal were there already: nothing waits
        return new DriverMain(
                new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), environment, ending);
    }

    private String out() {
        return out.toString(UTF_8);
    }

    private String err() {
        return err.toString(UTF_8);
    }

    @Nested
    class JournalInspection {

        @Test
        void printsAJournalInsteadOfDriving(@TempDir Path directory) throws IOException {
            Path file = directory.resolve("claims.journal");
            Files.writeString(file, "no line of a journal\n");

            assertThat(execute("journal", "inspect", file.toString())).isOne();

            assertThat(out()).startsWith("FILE.LINE").contains("(damaged)");
            assertThat(err()).isEqualTo("1 lines are damaged or missing\n");
            assertThat(events).isEmpty();
        }

        @Test
        void ofAnEmptyFileFindsNothingWrong(@TempDir Path directory) throws IOException {
            Path file = Files.createFile(directory.resolve("claims.journal"));

            assertThat(execute("journal", "inspect", file.toString())).isZero();
        }

        @Test
        void withoutAFileSaysHowItIsUsed() {
            assertThat(execute("journal", "inspect")).isEqualTo(2);
            assertThat(err()).contains("acme-driver journal inspect FILE");
            assertThat(execute("journal")).isEqualTo(2);
        }

        @Test
        void ofAFileThatIsNotThereFails() {
            assertThat(execute("journal", "inspect", "/no/such")).isOne();
            assertThat(err()).contains("Can't read the journal /no/such");
        }
    }

    @Nested
    class Webhook {

        private int execute(String... args) {
            List<String> all = new ArrayList<>(List.of("webhook"));
            all.addAll(List.of(args));
            return main().executeWebhook(all.toArray(String[]::new), PROGRAM, options, filled -> List.of());
        }

        @Test
        void showsWhatItNeeds() {
            assertThat(execute("--help")).isZero();

            assertThat(OPTION.matcher(out()).results().map(MatchResult::group))
                    .containsExactlyInAnyOrder(
                            "--tls-cert-file",
                            "--tls-private-key-file",
                            "--port",
                            "--refuse-extended-resources",
                            "--fast",
                            "--driver-name",
                            "--v",
                            "--logging-format",
                            "--help",
                            "--version");
        }

        @Test
        void takesTheOptionsOfTheDriver() {
            environment.put("NUM_CARDS", "3");

            int status = execute(
                    "--kubeconfig=/no/such",
                    "--cdi-root=/cdi",
                    "--tls-cert-file=/no/such.crt",
                    "--tls-private-key-file=/no/such.key");

            assertThat(err()).contains("Can't read /no/such.crt");
            assertThat(status).isOne();
            assertThat(options.cards).isEqualTo(3);
            assertThat(options.cdiRoot()).isEqualTo(Path.of("/cdi"));
        }

        @Test
        void refusesAPortThatThereIsNot() {
            int status = execute("--tls-cert-file=a", "--tls-private-key-file=b", "--port=65536");

            assertThat(status).isEqualTo(2);
            assertThat(err()).contains("Invalid value for option '--port': 65536 is not 0 to 65535");
        }
    }

    @Nested
    class Options {

        @Test
        void haveTheKubeletsDefaults() {
            assertThat(execute("--node-name", "node-a")).isZero();

            assertThat(options.nodeName()).isEqualTo("node-a");
            assertThat(options.driverName()).isEqualTo("acme.example.com");
            assertThat(options.kubeconfig()).isEmpty();
            assertThat(options.cdiRoot()).isEqualTo(Path.of("/var/run/cdi"));
            assertThat(options.kubeletPluginsDirectory()).isEqualTo(Path.of("/var/lib/kubelet/plugins"));
            assertThat(options.kubeletRegistrarDirectory()).isEqualTo(Path.of("/var/lib/kubelet/plugins_registry"));
            assertThat(options.procRoot()).isEqualTo(Path.of("/proc"));
            assertThat(options.podUid()).isEmpty();
            assertThat(options.httpEndpoint()).isEmpty();
            assertThat(options.metricsPath()).isEqualTo("/metrics");
            assertThat(options.verbosity()).isZero();
            assertThat(options.cards).isEqualTo(8);
            assertThat(options.fast).isFalse();
        }

        @Test
        void areTakenFromTheEnvironment() {
            environment.put("NODE_NAME", "node-b");
            environment.put("DRIVER_NAME", "other.example.com");
            environment.put("KUBECONFIG", "/kube/config");
            environment.put("CDI_ROOT", "/cdi");
            environment.put("KUBELET_PLUGINS_DIRECTORY_PATH", "/plugins");
            environment.put("KUBELET_REGISTRAR_DIRECTORY_PATH", "/registry");
            environment.put("PROC_ROOT", "/host/proc");
            environment.put("POD_UID", "uid-1");
            environment.put("HTTP_ENDPOINT", ":8080");
            environment.put("METRICS_PATH", "/dra");
            environment.put("NUM_CARDS", "3");
            environment.put("FAST", "true");

            assertThat(execute()).isZero();

            assertThat(options.nodeName()).isEqualTo("node-b");
            assertThat(options.driverName()).isEqualTo("other.example.com");
            assertThat(options.kubeconfig()).contains(Path.of("/kube/config"));
            assertThat(options.cdiRoot()).isEqualTo(Path.of("/cdi"));
            assertThat(options.kubeletPluginsDirectory()).isEqualTo(Path.of("/plugins"));
            assertThat(options.kubeletRegistrarDirectory()).isEqualTo(Path.of("/registry"));
            assertThat(options.procRoot()).isEqualTo(Path.of("/host/proc"));
            assertThat(options.podUid()).contains("uid-1");
            assertThat(options.httpEndpoint()).contains(":8080");
            assertThat(options.metricsPath()).isEqualTo("/dra");
            assertThat(options.cards).isEqualTo(3);
            assertThat(options.fast).isTrue();
        }

        @Test
        void onTheCommandLineOutweighTheEnvironment() {
            environment.put("NODE_NAME", "node-b");
            environment.put("CDI_ROOT", "/cdi");

            execute("--node-name=node-a", "--cdi-root", "/mine");

            assertThat(options.nodeName()).isEqualTo("node-a");
            assertThat(options.cdiRoot()).isEqualTo(Path.of("/mine"));
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
        @CsvSource({"--fast,true", "--fast=false,false", "--fast=true,true"})
        void takeABooleanWithAndWithoutAValue(String option, boolean fast) {
            execute("--node-name=n", option);
            assertThat(options.fast).isEqualTo(fast);
        }

        @ParameterizedTest
        @CsvSource({"-1,", "'',", "0,:0", "8080,:8080", "65535,:65535"})
        void takeTheMetricsPortForTheHttpEndpoint(String port, @Nullable String endpoint) {
            environment.put("METRICS_PORT", port);

            assertThat(execute("--node-name=n")).isZero();

            assertThat(options.httpEndpoint()).isEqualTo(Optional.ofNullable(endpoint));
        }

        @Test
        void takeOneHttpEndpointInBothForms() {
            environment.put("METRICS_PORT", "8080");
            environment.put("HTTP_ENDPOINT", "127.0.0.1:8080");

            assertThat(execute("--node-name=n")).isZero();

            assertThat(options.httpEndpoint()).contains("127.0.0.1:8080");
        }

        @Test
        void takeThoseOfGoPrograms() {
            environment.put("KUBE_API_QPS", "5");
            environment.put("KUBE_API_BURST", "");
            environment.put("VMODULE", "not=read");

            assertThat(execute(
                            "--node-name=n",
                            "--kube-api-qps=2.5",
                            "--logtostderr",
                            "--alsologtostderr=false",
                            "--stderrthreshold=INFO",
                            "--log-flush-frequency=5s",
                            "--log-json-info-buffer-size=1Mi",
                            "--log-text-split-stream=false",
                            "--skip_headers=true",
                            "--log_backtrace_at=:0",
                            "--log_dir=",
                            "--vmodule=driver=5"))
                    .isZero();

            assertThat(err()).isEmpty();
            assertThat(events).containsExactly("start", "close");
        }

        @ParameterizedTest
        @CsvSource({"-v 4,4", "-v=5,5", "--v=6,6"})
        void takeTheVerbosityAsGoProgramsDo(String option, int verbosity) {
            execute(("--node-name=n " + option).split(" "));
            assertThat(options.verbosity()).isEqualTo(verbosity);
        }
    }

    @Nested
    class AWrongCommandLine {

        @Test
        void namesTheRequiredOptionThatIsMissing() {
            assertThat(execute()).isEqualTo(2);

            assertThat(err()).isEqualTo("""
                            acme-driver: Missing required option: '--node-name=NAME'
                            Run it with --help to see its options.
                            """);
            assertThat(events).isEmpty();
        }

        @ParameterizedTest
        @CsvSource({
            "--no-such-option=1, Unknown option:, --no-such-opt",
            "--logging-format=xml, --logging-format, '[text, json]'",
            "--metrics-port=65536, --metrics-port, 65536 is more than 65535",
            "--kube-api-qps=many, --kube-api-qps, many",
        })
        void namesWhatIsWrong(String option, String problem, String more) {
            assertThat(execute("--node-name=n", option)).isEqualTo(2);

            assertThat(err()).startsWith("acme-driver: ").contains(problem, more);
        }
    }

    @Nested
    class TwoEndpoints {

        @Test
        void areOneTooMany() {
            environment.put("METRICS_PORT", "8080");

            assertThat(execute("--node-name=n", "--http-endpoint=:9090")).isEqualTo(2);

            assertThat(err())
                    .startsWith(
                            "acme-driver: --http-endpoint is :9090, and --metrics-port is 8080: both are for the same server; give one of them\n");
        }
    }

    @Nested
    class Help {

        @Test
        void namesEveryOptionWithItsVariableInTheEnvironment() {
            assertThat(execute("--help")).isZero();

            String help = out();
            assertThat(help).startsWith("Usage: acme-driver").contains("Drives Acme cards.");
            for (OptionSpec option :
                    options.commandLine(PROGRAM, Map.of()).getCommandSpec().options()) {
                assertThat(help.contains(option.longestName())).isEqualTo(!option.hidden());
            }
            assertThat(help)
                    .contains("[NODE_NAME]", "[DRIVER_NAME]", "[KUBECONFIG]", "[CDI_ROOT]")
                    .contains("[KUBELET_PLUGINS_DIRECTORY_PATH]", "[POD_UID]", "[NUM_CARDS]")
                    .contains("[KUBELET_REGISTRAR_DIRECTORY_PATH]", "Default: acme.example.com");
            assertThat(events).isEmpty();
        }

        @Test
        void hasTheVersionBesideIt() {
            assertThat(execute("--version")).isZero();

            assertThat(out()).isEqualTo("acme-driver (unpackaged)\n");
        }
    }

    @Nested
    class ARun {

        @Test
        void startsAndAfterTheSignalClosesTheDriver() {
            assertThat(execute("--node-name=n")).isZero();

            assertThat(events).containsExactly("start", "close");
        }

        @Test
        void saysInOneLineWhyTheDriverDoesNotStart() {
            int status = execute(filled -> new FailingRun(), "--node-name=n");

            assertThat(status).isEqualTo(1);
            assertThat(err()).isEqualTo("acme-driver: /plugins does not exist\n");
            assertThat(events).containsExactly("close");
        }

        @Test
        void endsWithAFailureWhenTheDriverCannotGoOn() {
            ending.fail(new DraException("the API is gone"));

            assertThat(execute("--node-name=n")).isEqualTo(1);

            assertThat(err()).isEqualTo("acme-driver: the API is gone\n");
            assertThat(events).containsExactly("start", "close");
        }

        @Test
        void addsTheStackTraceWhenMoreIsLogged() {
            execute(filled -> new FailingRun(), "--node-name=n", "-v=4");

            assertThat(err()).contains("\tat io.dra4j.runtime.DriverMainTest");
        }

        @Test
        void reportsAFailureThatIsUnexpected() {
            int status = execute(
                    filled -> {
                        throw new IllegalStateException("odd");
                    },
                    "--node-name=n");

            assertThat(status).isEqualTo(1);
            assertThat(err()).isEqualTo("acme-driver: unexpected: java.lang.IllegalStateException: odd\n");
        }
    }

    private static final class AcmeOptions extends DriverOptions {
        @Option(names = "--num-cards", defaultValue = "8", description = "How many. [NUM_CARDS]")
        private int cards;

        @Option(names = "--fast", arity = "0..1", description = "Hurry. [FAST]")
        private boolean fast;

        @Override
        protected Set<String> ofConfigurations() {
            return Set.of("--fast");
        }
    }

    private class RecordedRun implements DriverMain.Run {
        @Override
        public void start() {
            events.add("start");
        }

        @Override
        public void close() {
            events.add("close");
        }
    }

    private final class FailingRun extends RecordedRun {
        @Override
        public void start() {
            throw new DraException("/plugins does not exist");
        }
    }
}
