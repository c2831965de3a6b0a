// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands of a driver's program. */
@SetsUpLogging
class CommandsTest extends ProgramFixture {

    @Scenarios("commands.txt")
    void aCommandHasTheOptionsThatItNeeds(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void theWebhookDoesWithoutAProviderThatCanBeClosedUnstarted() {
        int status = DriverMain.of(PROGRAM, new AcmeOptions(), any -> new ProviderWithoutClaims.NeverStarted())
                .execute(
                        main(),
                        filled -> () -> {},
                        "webhook",
                        "--tls-cert-file=/no/such.crt",
                        "--tls-private-key-file=/no/such");

        assertThat(status).isOne();

        assertThat(err()).contains("Can't read /no/such.crt");
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
        void runsTheJarBesideItsOwnOrThatTheEnvironmentNames() throws Exception {
            jar(folder.resolve("kubectl-dra.jar"));
            Path noted = folder.resolve("noted");
            URL own = jar(folder.resolve("acme.jar")).toUri().toURL();

            try (URLClassLoader loader = new URLClassLoader(new URL[] {own}, ClassLoader.getPlatformClassLoader())) {
                Class<?> main = loader.loadClass(NotedArguments.class.getName());

                assertThat(execute(Map.of(), main, "tree", noted.toString())).isEqualTo(7);
            }
            assertThat(noted).hasContent("tree\n" + noted);
            Map<String, String> given =
                    Map.of("KUBECTL_DRA_JAR", jar(folder.resolve("any.jar")).toString());
            assertThat(execute(given, getClass(), "explain", "pod/a b", noted.toString()))
                    .isEqualTo(7);
            assertThat(noted).hasContent("explain\npod/a b\n" + noted);
        }

        @Test
        void withoutTheJarSaysWhereItHasToBe() {
            assertThat(execute(Map.of(), getClass(), "explain", "pod/a")).isEqualTo(3);
            assertThat(execute(Map.of(), String.class, "explain", "pod/a")).isEqualTo(3);
            assertThat(err())
                    .startsWith("acme-driver: explain is a command of kubectl-dra.jar")
                    .contains("KUBECTL_DRA_JAR", "`kubectl dra explain`");
        }
    }

    /** Commands of another artifact; three that ServiceLoader finds in the tests stand in for them. */
    @Nested
    class OfNodeTools {

        /** Prints the node. */
        @Command(name = "doctor", exitCodeOnExecutionException = 2)
        public static final class OfTheNode implements NodeCommand {

            @Option(names = "--host-root", order = -4, defaultValue = "/")
            private String root;

            @Override
            public boolean takesDriverOptions() {
                return true;
            }

            @Override
            public int run(Program program) {
                DriverNode node = program.node();
                try (DriverNode.Devices devices = node.devices().get()) {
                    program.out()
                            .println(List.of(
                                    root,
                                    node.driver(),
                                    node.node(),
                                    node.cdiRoot(),
                                    node.plugins(),
                                    node.registrar(),
                                    node.procRoot(),
                                    node.neededGates(),
                                    devices.inventory(List.of()).pools(),
                                    devices.checks("boot", List.of(), ref -> List.of()),
                                    node.checks().apply(null)));
                }
                return 5;
            }
        }

        /** Waits for a signal, then fails. */
        @Command(name = "maintenance")
        public static final class Interactive extends ProgramOptions implements NodeCommand {

            @Override
            public int run(Program program) {
                program.handleSignals();
                throw new DraException(
                        driverName() + (program.isEndRequestedWithin(Duration.ZERO) ? " ended" : " goes on"));
            }
        }

        /** Starts and ends. */
        @Command(name = "claim-metrics")
        public static final class Service extends ProgramOptions implements NodeCommand {

            @Override
            public int run(Program program) {
                return program.serve(() -> {
                    program.out().println("start");
                    return () -> program.out().println("close");
                });
            }
        }

        @Test
        void aCommandHasTheNodeOfTheDriversOptions() {
            environment.put("NODE_NAME", "node-a");
            driver.audited(filled -> held -> Inventory.of()).checks((filled, cluster) -> List.of());

            assertThat(execute("doctor", "--host-root=/host", "--cdi-root=/cdi", "--proc-root=/host/proc"))
                    .isEqualTo(5);

            assertThat(out())
                    .isEqualTo("[/host, acme.example.com, node-a, /cdi, /var/lib/kubelet/plugins,"
                            + " /var/lib/kubelet/plugins_registry, /host/proc, {}, [], [], []]\n");
            assertThat(events).isEmpty();
        }

        @Test
        void aProviderThatIsNotStartedMayNotReadItsDevices() {
            int status = DriverMain.of(PROGRAM, new AcmeOptions(), any -> new ProviderWithoutClaims.NeverStarted())
                    .execute(main(), filled -> () -> {}, "doctor", "--node-name=a");

            assertThat(status).isEqualTo(2);
            assertThat(err()).contains("the provider can't read its devices without being started", ": bus");
        }
    }
}
