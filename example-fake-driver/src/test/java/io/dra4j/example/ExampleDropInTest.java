// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.PagePart;
import io.dra4j.testkit.DropInTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The flags and variables of the community's example driver and controller, on their page. */
class ExampleDropInTest {

    private static final Path PAGE = Path.of("../docs-site/reference/drop-in.md");

    private static final List<String> FLAGS = List.of(
            "--node-name",
            "--driver-name",
            "--device-profile",
            "--num-devices",
            "--gpu-partitions",
            "--gpu-device-status",
            "--gpu-allow-multiple-allocations",
            "--binding-conditions",
            "--cpu-numa-nodes",
            "--cpus-per-numa-node",
            "--cdi-root",
            "--kubelet-plugins-directory-path",
            "--kubelet-registrar-directory-path",
            "--pod-uid",
            "--healthcheck-port",
            "--metrics-port",
            "--kubeconfig",
            "--kube-api-qps",
            "--kube-api-burst",
            "--feature-gates",
            "--logging-format",
            "--v",
            "--vmodule",
            "--log-flush-frequency");

    private static void add(DropInTable table, CommandLine command, String flag) {
        OptionSpec option = command.getCommandSpec().findOption(flag);
        assertThat(option).as(flag).isNotNull();
        table.option(flag, option.defaultValue(), option.description());
    }

    @Test
    void areAllAccepted() throws IOException {
        DropInTable table = new DropInTable();
        CommandLine driver = new CommandLine(new FakeDriverOptions());
        FLAGS.forEach(flag -> add(table, driver, flag));
        table.variable("NAMESPACE", "Nothing, as in the community's driver.");
        add(table, new CommandLine(new ControllerMain.Options()), "--enable-plugin");

        new PagePart(PAGE, "ExampleDropInTest").assertIs(table.toString());
        assertThat(table.variables())
                .containsAll(DriverContainer.named(
                                Manifests.read(Path.of("src/test/resources/published-chart.yaml")), "plugin")
                        .environment()
                        .keySet());
    }
}
