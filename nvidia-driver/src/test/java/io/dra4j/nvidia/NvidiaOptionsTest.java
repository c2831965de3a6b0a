// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.PagePart;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.prepare.DaemonSocket;
import io.dra4j.runtime.LegacyPlugin;
import io.dra4j.testkit.DropInTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The driver's options, above all those about health, and those of NVIDIA's {@code gpu-kubelet-plugin}. */
class NvidiaOptionsTest {

    private static final Path PAGE = Path.of("../docs-site/reference/drop-in.md");

    private static final List<String> FLAGS = List.of("""
            --node-name --nvidia-driver-root --container-driver-root --nvidia-cdi-hook-path --cdi-root
            --kubelet-plugins-directory-path --kubelet-registrar-directory-path --healthcheck-port
            --http-endpoint --metrics-path --feature-gates --consumable-shares
            --additional-xids-to-ignore --host-root --namespace --image-name --image-pull-policy
            --image-pull-secrets --service-account-name --kubeconfig --kube-api-qps --kube-api-burst
            --logging-format --v --vmodule --log-flush-frequency
            """.split("\\s+"));

    @TempDir
    private Path folder;

    private NvidiaOptions parse(String... arguments) {
        NvidiaOptions options = new NvidiaOptions();
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--driver-name=gpu.nvidia.com");
        all.add("--node-name=node-1");
        all.add("--kubelet-plugins-directory-path=" + folder);
        new CommandLine(options).parseArgs(all.toArray(String[]::new));
        return options;
    }

    @Test
    void effectsAndIgnoredErrorsAreOne() {
        NvidiaOptions options = parse("--xid-effects=48=NoExecute", "--additional-xids-to-ignore=94, 95, x,");

        assertThat(options.healthPolicy().effects().chosen())
                .isEqualTo(Map.of(48L, Effect.NO_EXECUTE, 94L, Effect.NONE, 95L, Effect.NONE));
        assertThat(parse().healthPolicy().effects().chosen()).isEmpty();
        assertThat(parse("--xid-effects=").healthPolicy().effects().chosen()).isEmpty();
        assertThat(parse().healthPolicy().fabric()).isEqualTo(Effect.NONE);
        assertThat(parse("--fabric-effect=NoSchedule").healthPolicy().fabric()).isEqualTo(Effect.NO_SCHEDULE);
    }

    @Test
    void containersDoNotGetTheSocketByWhichPartitionsAreSwitched() {
        String gate = "--feature-gates=FabricManagerPartitioning=true";

        assertThatThrownBy(() -> parse(gate, "--daemon-sockets=mps,fabricmanager", "--nvidia-cdi-hook-path=/x")
                        .edits())
                .isInstanceOf(DraException.class)
                .hasMessageContaining("fabricmanager, and the feature gate FabricManagerPartitioning is on");
        assertThat(DaemonSocket.of(null, true)).containsExactly(DaemonSocket.mps);
        assertThat(DaemonSocket.of(null, false)).contains(DaemonSocket.fabricmanager);
        assertThat(parse(gate, "--daemon-sockets=persistenced", "--nvidia-cdi-hook-path=/x")
                        .edits())
                .isNotNull();
        InstallOptions install = parse(gate).install();
        assertThat(install.fabricManager()).isSameAs(install.fabricManager());
    }

    @Test
    void theLegacyPluginIsWarnedAboutAndThresholdsAreOffUnlessGiven() {
        assertThat(parse().legacyPlugin()).isEqualTo(LegacyPlugin.WARN);
        assertThat(parse("--legacy-plugin=withhold").legacyPlugin()).isEqualTo(LegacyPlugin.WITHHOLD);
        assertThat(parse().healthPolicy().thresholds()).isEqualTo(Thresholds.NONE);
        assertThat(parse("--temperature-threshold=85", "--power-threshold=600", "--threshold-interval=5")
                        .healthPolicy()
                        .thresholds())
                .isEqualTo(new Thresholds(
                        Map.of(DeviceMeasure.TEMPERATURE, 85, DeviceMeasure.POWER, 600), Duration.ofSeconds(5)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --xid-effects=48=Never | '--xid-effects': entry "48=Never" needs one of the effects None, NoSchedule, NoExecute
                    --fabric-effect=on | '--fabric-effect': expected one of [None, NoSchedule, NoExecute]
                    --temperature-threshold=0 | '--temperature-threshold': 0 is not between 1 and 150
                    --power-threshold=-1 | '--power-threshold': -1 is not between 1 and 100000
                    --threshold-interval=0 | '--threshold-interval': 0 is not between 1 and 3600
                    --rescan-interval=86401 | '--rescan-interval': 86401 is not between 1 and 86400
                    --legacy-plugin=ignore | '--legacy-plugin': 'ignore' is neither warn nor withhold
                    --temperature-threshold=85C | '--temperature-threshold'
                    --xid-effects=48=NoExecute --additional-xids-to-ignore=48 | '--additional-xids-to-ignore': XID 48 is both ignored and given the effect NoExecute
                    """)
    void badValuesAreRefusedByName(String arguments, String message) {
        assertThatThrownBy(() -> parse(arguments.split(" ")).healthPolicy())
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining(message);
    }

    @Test
    void theFlagsAndVariablesOfNvidiasProgramAreAcceptedAndOnTheirPage() throws IOException {
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

        new PagePart(PAGE, "NvidiaOptionsTest").assertIs(table.toString());
        assertThat(table.variables())
                .containsAll(DriverContainer.named(
                                Manifests.read(Path.of("src/test/resources/published-chart.yaml")), "gpus")
                        .environment()
                        .keySet());
    }
}
