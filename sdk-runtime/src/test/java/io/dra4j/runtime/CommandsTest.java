// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of a driver's program. */
@SetsUpLogging
class CommandsTest extends ProgramFixture {

    private static final Check OWN = new Check() {
        @Override
        public String id() {
            return "firmware";
        }

        @Override
        public CheckResult look() {
            return CheckResult.healthy("the firmware is new");
        }
    };

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
            assertThat(err()).startsWith("acme-driver: Missing required parameter: 'FILE'\n");
            assertThat(execute("journal")).isEqualTo(2);
        }

        @Test
        void ofAFileThatIsNotThereFails() {
            assertThat(execute("journal", "inspect", "/no/such")).isOne();
            assertThat(err()).contains("Can't read the journal /no/such");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-5s", "9999999999s", "", "soon"})
    void maintenanceForATimeThatIsNoneIsRefused(String timeout) {
        assertThat(execute("maintenance", "on", "--timeout=" + timeout)).isEqualTo(2);
        assertThat(err()).contains("'%s' is not a number of seconds".formatted(timeout));
    }

    @Test
    void maintenanceFailsInALineAlsoWhereDriversLogJson(@TempDir Path empty) {
        environment.put("LOGGING_FORMAT", "json");

        assertThat(execute("maintenance", "status", "--kubelet-plugins-directory-path=" + empty))
                .isOne();

        assertThat(err()).startsWith("acme-driver: There is no directory").hasLineCount(1);
    }

    private int executeUnstarted(String... args) {
        return DriverMain.of(PROGRAM, new AcmeOptions(), any -> new ProviderWithoutClaims.NeverStarted())
                .execute(main(), filled -> () -> {}, args);
    }

    @Nested
    class Webhook {

        @Test
        void showsWhatItNeeds() {
            assertThat(execute("webhook", "--help")).isZero();

            assertThat(shownOptions())
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
                    "webhook",
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
        void doesWithoutAProviderThatCanBeClosedUnstarted() {
            assertThat(executeUnstarted("webhook", "--tls-cert-file=/no/such.crt", "--tls-private-key-file=/no/such"))
                    .isOne();

            assertThat(err()).contains("Can't read /no/such.crt");
        }

        @Test
        void refusesAPortThatThereIsNot() {
            int status = execute("webhook", "--tls-cert-file=a", "--tls-private-key-file=b", "--port=65536");

            assertThat(status).isEqualTo(2);
            assertThat(err()).contains("Invalid value for option '--port': 65536 is not 0 to 65535");
        }
    }

    @Nested
    class Doctor {

        @Test
        void looksWithTheOptionsOfTheDriver(@TempDir Path folder) throws IOException {
            environment.put("NODE_NAME", "node-a");
            try (EmbeddedApiServer api =
                    EmbeddedApiServer.builder().node("node-a").start()) {
                environment.put(
                        "KUBECONFIG",
                        api.writeKubeconfig(folder.resolve("config")).toString());

                Device share =
                        Device.builder("nic-0").allowMultipleAllocations(true).build();
                driver.checks((filled, cluster) -> List.of(OWN))
                        .audited(filled -> held -> Inventory.of(Pool.ofNode(filled.nodeName(), List.of(share))));
                int status = execute(
                        "doctor",
                        "--kubelet-plugins-directory-path=" + folder,
                        "--kubelet-registrar-directory-path=" + folder.resolve("none"),
                        "--output=json");

                assertThat(status).isOne();
                assertThat(out())
                        .contains("\"subject\" : \"acme.example.com on node node-a\"")
                        .contains("\"object\" : \"" + folder.resolve("none") + "\"")
                        .contains("the firmware is new", "on: DRAConsumableCapacity");
                executeUnstarted("doctor", "--kubelet-registrar-directory-path=" + folder);
                assertThat(out())
                        .containsPattern("(?s)ok +feature-gates +no option needs one; the provider can't read .*: bus");
            }
        }

        @Test
        void withoutANodeNameSaysSo() {
            assertThat(execute("doctor")).isEqualTo(2);
            assertThat(err()).contains("--node-name");
        }

        @Test
        void withoutAKubeconfigCannotLook() {
            assertThat(execute("doctor", "--node-name=a", "--kubeconfig=/no/such"))
                    .isEqualTo(2);
            assertThat(err()).contains("Cannot read the kubeconfig file /no/such");
        }

        @Test
        void showsItsOwnOptionsFirst() {
            assertThat(execute("doctor", "--help")).isZero();
            assertThat(shownOptions()).startsWith("--host-root", "--output").contains("--node-name", "--cdi-root");
        }
    }

    @Nested
    class ClaimMetrics {

        @Test
        void needsNoNodeAndHasOptionsOfItsOwn() {
            assertThat(execute("claim-metrics", "--help")).isZero();

            assertThat(out()).startsWith("Usage: acme-driver claim-metrics");
            assertThat(shownOptions())
                    .containsExactlyInAnyOrder(
                            "--driver-name",
                            "--kubeconfig",
                            "--http-endpoint",
                            "--metrics-path",
                            "--v",
                            "--logging-format",
                            "--help",
                            "--version");
        }

        @Test
        void refusesOptionsOfTheDriver() {
            assertThat(execute("claim-metrics", "--node-name=n")).isEqualTo(2);

            assertThat(err()).startsWith("acme-driver: Unknown option: '--node-name=n'");
        }

        @Test
        void saysWhatIsWrongWithItsOptions(@TempDir Path directory) throws IOException {
            Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), "{}");

            assertThat(execute("claim-metrics", "--kubeconfig=" + kubeconfig, "--http-endpoint=nowhere"))
                    .isOne();
            assertThat(execute("claim-metrics", "--kubeconfig=" + directory.resolve("none")))
                    .isOne();

            assertThat(err()).contains("acme-driver: Not an HTTP endpoint: \"nowhere\"", "there is no such file");
        }
    }

    /** Stands in for the program of {@code kubectl-dra.jar}: notes its arguments in a file. */
    public static final class NotedArguments {
        /**
         * Ends with status 7.
         *
         * @param args the file is the last one
         */
        public static void main(String[] args) throws IOException {
            Files.write(Path.of(args[args.length - 1]), List.of(args));
            System.exit(7);
        }
    }

    @Nested
    class OfTheCluster {

        @TempDir
        private Path folder;

        private int execute(Map<String, String> given, Class<?> main, String... args) {
            DriverProgram program = new DriverProgram("acme-driver", "", "acme.example.com", main);
            return new ClusterMain(main().err(), given).execute(program, args);
        }

        private static Path jar(Path file) throws IOException {
            Manifest manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, NotedArguments.class.getName());
            String entry = NotedArguments.class.getName().replace('.', '/') + ".class";
            try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest);
                    InputStream bytes = NotedArguments.class.getClassLoader().getResourceAsStream(entry)) {
                jar.putNextEntry(new JarEntry(entry));
                jar.write(bytes.readAllBytes());
            }
            return file;
        }

        @Test
        void runsTheJarThatTheEnvironmentNames() throws IOException {
            Path jar = jar(folder.resolve("any.jar"));
            Path noted = folder.resolve("noted");

            int status = execute(
                    Map.of("KUBECTL_DRA_JAR", jar.toString()), getClass(), "explain", "pod/a b", noted.toString());

            assertThat(status).isEqualTo(7);
            assertThat(noted).hasContent("explain\npod/a b\n" + noted);
        }

        @Test
        void findsTheJarBesideItsOwn() throws Exception {
            jar(folder.resolve("kubectl-dra.jar"));
            Path noted = folder.resolve("noted");
            URL own = jar(folder.resolve("acme.jar")).toUri().toURL();

            try (URLClassLoader loader = new URLClassLoader(new URL[] {own}, ClassLoader.getPlatformClassLoader())) {
                Class<?> main = loader.loadClass(NotedArguments.class.getName());

                assertThat(execute(Map.of(), main, "tree", noted.toString())).isEqualTo(7);
            }
            assertThat(noted).hasContent("tree\n" + noted);
        }

        @Test
        void withoutTheJarSaysWhereItHasToBe() {
            assertThat(execute(Map.of(), getClass(), "explain", "pod/a")).isEqualTo(3);
            assertThat(err())
                    .startsWith("acme-driver: explain is a command of kubectl-dra.jar")
                    .contains("KUBECTL_DRA_JAR", "`kubectl dra explain`");
        }
    }
}
