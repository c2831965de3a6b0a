// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.PagePart;
import io.dra4j.testkit.DropInTable;
import io.dra4j.testkit.PublishedChart;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The flags and variables of NVIDIA's {@code gpu-kubelet-plugin}, on their page. */
class NvidiaDropInTest {

    private static final Path PAGE = Path.of("../docs-site/reference/drop-in.md");

    private static final List<String> FLAGS = List.of("""
            --node-name --nvidia-driver-root --container-driver-root --nvidia-cdi-hook-path --cdi-root
            --kubelet-plugins-directory-path --kubelet-registrar-directory-path --healthcheck-port
            --http-endpoint --metrics-path --feature-gates --consumable-shares
            --additional-xids-to-ignore --host-root --namespace --image-name --image-pull-policy
            --image-pull-secrets --service-account-name --kubeconfig --kube-api-qps --kube-api-burst
            --logging-format --v --vmodule --log-flush-frequency
            """.split("\\s+"));

    @Test
    void areAllAccepted() throws IOException {
        DropInTable table = new DropInTable();
        CommandLine driver = new CommandLine(new NvidiaOptions());
        for (String flag : FLAGS) {
            OptionSpec option = driver.getCommandSpec().findOption(flag);
            assertThat(option).as(flag).isNotNull();
            String byDefault = String.valueOf(option.defaultValue());
            table.option(
                    flag,
                    byDefault.contains("${") || byDefault.equals("null") ? null : byDefault,
                    option.description());
        }
        table.variable("LOG_VERBOSITY", "The chart's own: its command passes it, as `-v $(LOG_VERBOSITY)`.");
        table.variable(
                "MASK_NVIDIA_DRIVER_PARAMS",
                "Nothing: the shell commands in the chart's own command read it, for NVIDIA's own tests on"
                        + " nodes that are containers.");
        table.variable(
                "NVIDIA_VISIBLE_DEVICES",
                "Nothing: it is for NVIDIA's container runtime, which should leave the driver's container alone.");
        table.variable("NVIDIA_MIG_CONFIG_DEVICES", "Nothing, as NVIDIA_VISIBLE_DEVICES.");

        new PagePart(PAGE, "NvidiaDropInTest").assertIs(table.toString());
        assertThat(table.variables())
                .containsAll(new PublishedChart(Path.of("src/test/resources/published-chart.yaml"))
                        .container("gpus")
                        .environment()
                        .keySet());
    }
}
