// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** The commands, run by a program that ends each service as soon as it has started. */
class CommandsTest {

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

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private DriverNode node;
    private BooleanSupplier isEnded = () -> true;

    private final class TestedProgram implements NodeCommand.Program {

        @Override
        public PrintStream out() {
            return new PrintStream(out, true, UTF_8);
        }

        @Override
        public PrintStream err() {
            return new PrintStream(err, true, UTF_8);
        }

        @Override
        public void handleSignals() {}

        @Override
        public boolean isEndRequestedWithin(Duration time) {
            return isEnded.getAsBoolean();
        }

        @Override
        public int serve(Supplier<Runnable> start) {
            start.get().run();
            return 0;
        }

        @Override
        public DriverNode node() {
            return node;
        }
    }

    private int run(NodeCommand command, String... args) {
        new CommandLine(command).parseArgs(args);
        return command.run(new TestedProgram());
    }

    @Test
    void areFoundByTheirNames() {
        assertThat(ServiceLoader.load(NodeCommand.class))
                .extracting(command ->
                        command.getClass().getAnnotation(Command.class).name())
                .containsExactlyInAnyOrder("audit", "claim-metrics", "doctor", "journal", "maintenance");
    }

    @Nested
    class JournalInspection {

        @Test
        void printsDamage() throws IOException {
            Path file = Files.writeString(folder.resolve("claims.journal"), "no line of a journal\n");

            assertThat(run(new JournalMain(), "inspect", file.toString())).isOne();

            assertThat(out.toString(UTF_8)).startsWith("FILE.LINE").contains("(damaged)");
            assertThat(err.toString(UTF_8)).isEqualTo("1 lines are damaged or missing\n");
        }

        @Test
        void needsAFileThatExistsAndMayBeEmpty() throws IOException {
            Path file = Files.createFile(folder.resolve("claims.journal"));

            assertThat(run(new JournalMain(), "inspect", file.toString())).isZero();
            assertThatThrownBy(() -> run(new JournalMain(), "inspect"))
                    .hasMessage("Missing required parameter: 'FILE'");
            assertThatThrownBy(() -> run(new JournalMain(), "inspect", "/no/such"))
                    .hasMessageContaining("Can't read the journal /no/such");
        }
    }

    @Nested
    class MaintenanceOfANode {

        private int maintain(String... args) {
            MaintenanceMain command = new MaintenanceMain();
            CommandLine line = new CommandLine(command);
            line.parseArgs(args);
            line.getCommandSpec().findOption("--driver-name").setValue("gpu.example.com");
            line.getCommandSpec().findOption("--kubelet-plugins-directory-path").setValue(folder);
            return command.run(new TestedProgram());
        }

        @ParameterizedTest
        @ValueSource(strings = {"-5s", "9999999999s", "", "soon"})
        void forATimeThatIsNoneIsRefused(String timeout) {
            assertThatThrownBy(() -> maintain("on", "--timeout=" + timeout))
                    .hasMessageContaining("'%s' is not a number of seconds", timeout);
        }

        @Test
        void needsADriver() {
            assertThatThrownBy(() -> maintain("on"))
                    .isInstanceOf(DraException.class)
                    .hasMessageContainingAll("does not run on this node", "--driver-name");
        }

        @Test
        void waitsForTheDriver() throws IOException {
            MaintenanceFiles files = new MaintenanceFiles(Files.createDirectory(folder.resolve("gpu.example.com")));

            assertThatThrownBy(() -> maintain("on", "--device=GPU-3"))
                    .isInstanceOf(ParameterException.class)
                    .hasMessageContaining("--device: \"GPU-3\" matches no name");
            assertThat(maintain("on", "--device=gpu-3,gpu-4")).isOne();
            assertThat(maintain("status")).isOne();
            assertThat(maintain("off")).isZero();
            assertThat(maintain("off")).isZero();
            isEnded = () -> !files.remove(); // by another user
            assertThat(maintain("on")).isOne();

            assertThat(out.toString(UTF_8))
                    .contains("devices gpu-3,gpu-4 of gpu.example.com", "The driver has not seen it yet")
                    .contains("Maintenance is off: the driver removes", "already off.\nMaintenance is off.\n");
        }

        @Test
        void ignoresWhatADriversEnvironmentHasForOthers() {
            MaintenanceMain command = new MaintenanceMain();

            assertThat(command.variable("DEVICE")).isNull();
            assertThat(command.variable("LANES")).isEqualTo("LANES");
        }
    }

    @Test
    void doctorAndAuditLookAtTheDriversNode() throws IOException {
        Device share = Device.builder("nic-0").allowMultipleAllocations(true).build();
        FakeNode fake = new FakeNode(folder, () -> Inventory.of(Pool.ofNode("node-a", List.of(share))), OWN);
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().node("node-a").start()) {
            node = fake.with(api.writeKubeconfig(folder.resolve("config")), folder, Map.of());

            run(new DoctorOptions(), "--host-root=" + folder, "--output=json");
            assertThat(run(new AuditOptions())).isEqualTo(2);
        }

        assertThat(out.toString(UTF_8))
                .contains("\"subject\" : \"gpu.example.com on node node-a\"")
                .contains("the firmware is new", "on: DRAConsumableCapacity")
                .contains("audit: node node-a, driver gpu.example.com", "not checked  firmware");
    }

    @Test
    void claimMetricsSayWhatIsWrongWithTheirOptions() throws IOException {
        String kubeconfig = "--kubeconfig=" + Files.writeString(folder.resolve("kubeconfig"), "{}");
        String name = "--driver-name=gpu.example.com";

        assertThatThrownBy(() -> run(new ClaimMetricsOptions(), name, kubeconfig, "--http-endpoint=nowhere"))
                .hasMessageContaining("Not an HTTP endpoint: \"nowhere\"");
        assertThatThrownBy(() -> run(new ClaimMetricsOptions(), name, "--kubeconfig=/no/such"))
                .hasMessageContaining("there is no such file");
    }
}
