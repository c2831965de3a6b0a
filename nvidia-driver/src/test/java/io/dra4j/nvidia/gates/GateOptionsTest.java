// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.gates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.error.DraException;
import io.dra4j.charttest.PagePart;
import io.dra4j.nvidia.gates.NvidiaGate.Handling;
import io.dra4j.nvidia.inventory.Shares;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class GateOptionsTest {

    /** A separate command has the options as a mixin. */
    private static final class Command {
        @Mixin
        private GateOptions gates;
    }

    private static GateOptions options(String... args) {
        Command command = new Command();
        new CommandLine(command).parseArgs(args);
        return command.gates;
    }

    private static NvidiaGates gates(String text) {
        return options("--feature-gates=" + text).featureGates();
    }

    @Test
    void areNoneByDefault() {
        assertThat(options().featureGates().known()).isEmpty();
        assertThatCode(() -> options().check()).doesNotThrowAnyException();
    }

    @Test
    void haveValuesAndATrailingComma() {
        NvidiaGates gates = gates("DynamicMIG=true, MPSSupport = false,AllBeta=T,");

        assertThat(gates.given(NvidiaGate.DynamicMIG)).contains(true);
        assertThat(gates.given(NvidiaGate.MPSSupport)).contains(false);
        assertThat(gates.given(NvidiaGate.AllBeta)).contains(true);
        assertThat(gates.given(NvidiaGate.AllAlpha)).isEmpty();
        assertThat(gates("DynamicMIG=true,DynamicMIG=false").given(NvidiaGate.DynamicMIG))
                .contains(false);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    DynamicMIG                  | "DynamicMIG" at character 1 is not a gate
                    AllBeta=true,MPSSupport     | "MPSSupport" at character 14 is not a gate
                    AllBeta=true,,DynamicMIG=on | "DynamicMIG=on" at character 15 is not a gate
                    AllBeta=true,=true          | "=true" at character 14 is not a gate
                    A=true=false                | "A=true=false" at character 1 is not a gate
                    """)
    void areRefusedWithTheirPositionIfMalformed(String text, String problem) {
        assertThatThrownBy(() -> gates(text))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("Invalid value for option '--feature-gates'")
                .hasMessageContaining(problem)
                .hasMessageEndingWith("write NAME=true or NAME=false");
    }

    @ParameterizedTest
    @EnumSource
    void areAcceptedIfOffAndIfOnUnlessThisDriverLacksThem(NvidiaGate gate) {
        assertThatCode(() -> options("--feature-gates=" + gate + "=false").check())
                .doesNotThrowAnyException();
        String needed = gate == NvidiaGate.DeviceMetadata ? ",PassthroughSupport=true" : "";
        GateOptions on = options("--feature-gates=" + gate + "=true" + needed);
        if (gate.handling() == Handling.NOT_SUPPORTED) {
            assertThatThrownBy(on::check)
                    .isInstanceOf(DraException.class)
                    .hasMessageStartingWith("feature gate " + gate + " is on, and this driver")
                    .hasMessageContaining("set " + gate + "=false")
                    .hasMessageEndingWith("or start without it, with --ignore-unknown-gates");
            assertThatCode(() -> options("--feature-gates=" + gate + "=true", "--ignore-unknown-gates")
                            .check())
                    .doesNotThrowAnyException();
        } else {
            assertThatCode(on::check).doesNotThrowAnyException();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            DynamicMIG=true,PassthroughSupport=true            | both with --dynamic-mig in place of DynamicMIG
            DynamicMIG=true,MPSSupport=true                    | both with --dynamic-mig in place of DynamicMIG
            PassthroughSupport=true,NVMLDeviceHealthCheck=true | both with --health-watch in place of NVML
            DeviceMetadata=true,PassthroughSupport=false       | DeviceMetadata is on, but needs PassthroughSupport
            DynamicMig=false,Foo=true                          | gate DynamicMig is unknown & gate Foo is unknown
            """)
    void areRefusedTogetherAsNvidiasDriverRefusesThem(String gates, String problem) {
        assertThatThrownBy(() -> options("--feature-gates=" + gates).check())
                .isInstanceOf(DraException.class)
                .hasMessageContainingAll(problem.split(" & "));
        assertThatCode(() -> options("--feature-gates=" + gates, "--ignore-unknown-gates")
                        .check())
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            DynamicMIG=true,PassthroughSupport=false   | ''
            DynamicMIG=true,NVMLDeviceHealthCheck=true | 4
            ConsumableShares=false                     | disabled
            AllBeta=false                              | unlimited
            AllBeta=false                              | memory
            """)
    void areAcceptedTogetherAsNvidiasDriverAcceptsThem(String gates, String shares) {
        GateOptions options = options("--feature-gates=" + gates, "--consumable-shares=" + shares);

        assertThatCode(options::check).doesNotThrowAnyException();
        assertThat(options.shares()).isEqualTo(Shares.parse(shares));
    }

    @Test
    void consumableSharesAreOneOfTheirFormsAndContradictTheirGateIfItIsOff() {
        assertThatThrownBy(() -> options("--consumable-shares=some"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("\"some\" is not one of disabled, unlimited, memory");
        assertThatThrownBy(() -> options("--consumable-shares=4", "--feature-gates=ConsumableShares=false")
                        .check())
                .hasMessageContaining("feature gate ConsumableShares is off");
    }

    @Test
    void areOnThePage() throws Exception {
        new PagePart(Path.of("../docs-site/reference/nvidia-driver.md"), "GateOptionsTest")
                .assertIs("| gate | here | |\n|---|---|---|\n"
                        + Stream.of(NvidiaGate.values())
                                .map(gate -> "| `%s` | %s | %s |%n".formatted(gate, gate.handling(), gate.note()))
                                .collect(Collectors.joining()));
    }

    @Test
    void areInTheSchemaOfTheChartAndOnlyThoseThatThereAreMayBeOn() throws IOException {
        JsonNode gates = new ObjectMapper()
                .readTree(new File("deploy/helm/values.schema.json"))
                .at("/properties/featureGates/properties");

        assertThat(gates.fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(
                        Stream.of(NvidiaGate.values()).map(Enum::name).toList());
        assertThat(NvidiaGate.values())
                .allSatisfy(gate -> assertThat(gates.path(gate.name()).has("const"))
                        .as(gate.name())
                        .isEqualTo(gate.handling() == Handling.NOT_SUPPORTED));
    }
}
