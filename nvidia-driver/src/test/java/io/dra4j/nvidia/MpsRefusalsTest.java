// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Shares;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of MPS, and claims that can't have it. */
@Tag("slow")
class MpsRefusalsTest extends MpsOnBoards {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    defaultPinnedDeviceMemoryLimit: 1Gi                                     | 1024 | 1024
                    defaultPinnedDeviceMemoryLimit: 1073741824                              | 1024 | 1024
                    defaultPinnedDeviceMemoryLimit: 1.5Mi                                   | 1    | 1
                    defaultPerDevicePinnedMemoryLimit: {'1': 2Gi}                           |      | 2048
                    defaultPerDevicePinnedMemoryLimit: {'0': 3G}                            | 2861 |
                    defaultPerDevicePinnedMemoryLimit: {GPU1: 2Gi}                          |      | 2048
                    defaultPinnedDeviceMemoryLimit: 1Gi, defaultPerDevicePinnedMemoryLimit: {'1': 4Gi} | 1024 | 4096
                    """)
    void limitsTheMemoryOfEachDevice(String settings, Long first, Long second) throws Exception {
        install("a100-40");

        claims.prepare(provider, shared(ONE, settings.replace("GPU1", gpu1), "gpu-0", "gpu-1"));

        assertThat(mps.calls().stream().filter(call -> call.contains("pinned_mem")))
                .containsExactlyElementsOf(Stream.of(limit(gpu0, first), limit(gpu1, second))
                        .flatMap(List::stream)
                        .toList());
        assertThat(mps.calls()).contains("mps -f " + gpu0 + "," + gpu1);
    }

    private static List<String> limit(String gpu, Long mebibytes) {
        return mebibytes == null
                ? List.of()
                : List.of("mps set_default_device_pinned_mem_limit %s %dM".formatted(gpu, mebibytes));
    }

    @Test
    void refusesALimitForADeviceThatTheClaimLacks() throws Exception {
        install("a100-40");
        String limits = "defaultPerDevicePinnedMemoryLimit: {'1': 1Gi}";

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, limits, "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessage(
                        "defaultPerDevicePinnedMemoryLimit[1]: invalid device: the claim has no such device with this configuration; it has 0 (%s)",
                        gpu0);

        assertThat(smi.calls()).isEmpty();
        assertThat(claims.held).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                                    | MPS with limits for each container needs 7.0
                    multiUser: true | MPS with multiUser needs 7.0
                    """)
    void refusesGpusBeforeVolta(String settings, String message) throws Exception {
        install("p40");

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, settings == null ? "" : settings, "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("Device gpu-0 has compute capability 6.1")
                .hasMessageContaining(message);
        assertThat(smi.calls()).isEmpty();
    }

    @Test
    void isNotThereWithShares() throws Exception {
        shares = Shares.parse("unlimited");
        install("l40s");

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, "", "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessageStartingWith("MPS is not there with --consumable-shares");
        assertThat(smi.calls()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[Not Supported]", "Exclusive_Thread", "Unable to determine the device handle"})
    void refusesAGpuWhoseComputeModeIsUnknown(String answer) throws Exception {
        install("a100-40");
        smi.answer(answer);

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, "", "gpu-0", "gpu-1")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("nvidia-smi answers \"%s\" for the compute mode of %s".formatted(answer, gpu0));
        assertThat(smi.calls()).noneMatch(call -> call.contains(" -c ")).noneMatch(call -> call.startsWith("mps"));
        assertNothingIsLeft();
    }

    @Test
    void isDoubtfulForADriverThatDoesNotSeePods() throws Exception {
        install("l40s");
        assertThat(context.notices).isEmpty();
        node.hideProcesses();

        restart();

        assertThat(context.notices).singleElement().asString().contains("hostPID: true");
    }

    @Test
    void takesAModeWithAWarningBesideIt() throws Exception {
        install("l40s");
        smi.answer("Prohibited\nWARNING: infoROM is corrupted at gpu 0000:01:00.0\n");

        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        claims.unprepare(provider, ONE);

        assertThat(smi.mode(gpu0)).isEqualTo("PROHIBITED");
        smi.setPersistent(gpu0);
        assertThat(node.options().nvidiaSmi().isPersistent(gpu0, Duration.ofSeconds(60)))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia-cuda-mps-control", "nvidia-cuda-mps-server"})
    void changesNothingWithoutItsPrograms(String program) throws Exception {
        install("h100-80", true);
        Files.delete(node.root().resolve("usr/bin").resolve(program));
        String both = mpsConfig("MigDeviceConfig", "of-gpu-0-mig-1g10gb-19-4", "")
                + ", "
                + mpsConfig("GpuConfig", "of-gpu-1", "");

        assertThatThrownBy(() -> claims.prepare(provider, claim(ONE, both, "gpu-0-mig-1g10gb-19-4", "gpu-1")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining(program);
        assertThat(hardware.isMigEnabled(0)).isFalse();
        assertThat(smi.calls()).isEmpty();
        assertNothingIsLeft();
    }

    @Test
    void isRefusedForAGpuThatAnotherClaimSharesInAnotherWay() throws Exception {
        install("l40s");
        String slices = config("GpuConfig", "", "strategy: TimeSlicing");
        claims.prepare(provider, claim(ONE, slices, "gpu-0"));

        assertThatThrownBy(() -> claims.prepare(provider, shared(TWO, "", "gpu-0")))
                .hasMessage(
                        "%s is shared by claim default/one: it uses TimeSlicing, and this claim asks for MPS", gpu0);
        claims.unprepare(provider, ONE);
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        assertThatThrownBy(() -> claims.prepare(provider, claim(TWO, slices, "gpu-0")))
                .hasMessageContaining("it uses MPS, and this claim asks for TimeSlicing");
        assertThatThrownBy(() -> claims.prepare(provider, shared(TWO, "", "gpu-0")))
                .hasMessageContaining("its MPS daemon has the device alone");
    }
}
