// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands of another artifact; three that ServiceLoader finds in the tests stand in for them. */
@SetsUpLogging
class NodeToolsMainTest extends ProgramFixture {

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
        public Set<String> ignoredVariables() {
            return Set.of("LOGGING_FORMAT");
        }

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

    @Test
    void aCommandOfTheNodeShowsItsOwnOptionsFirst() {
        assertThat(execute("doctor", "--help")).isZero();
        assertThat(shownOptions()).startsWith("--host-root").contains("--node-name", "--cdi-root");

        assertThat(execute("doctor")).isEqualTo(2);
        assertThat(err()).contains("--node-name");
    }

    @Test
    void anotherCommandHasNoOptionsOfTheDriver() {
        assertThat(execute("claim-metrics", "--node-name=n")).isEqualTo(2);
        assertThat(err()).startsWith("acme-driver: Unknown option: '--node-name=n'");

        assertThat(execute("claim-metrics")).isZero();
        assertThat(out()).isEqualTo("start\nclose\n");
    }

    @Test
    void aCommandFailsInALineAlsoWhereDriversLogJson() {
        environment.put("LOGGING_FORMAT", "json");

        assertThat(execute("maintenance")).isOne();

        assertThat(err()).isEqualTo("acme-driver: acme.example.com ended\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "--node-name=a", "-o"})
    void aCommandThatIsNotThereSaysWhichArtifactHasIt(String option) {
        assertThat(execute("audit", option)).isEqualTo(3);

        assertThat(err())
                .isEqualTo(
                        "acme-driver: audit is a command of dra4j-node-tools, which is not on this program's class path:"
                                + " add io.dra4j:dra4j-node-tools to the program's dependencies.\n");
    }
}
