// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.standin.MpsStandIn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Claims that share GPUs and MIG devices by MPS, with stand-ins that record their calls. */
@EnabledIf(
        value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
        disabledReason = "MPS daemons need root, and the right to mount")
class MpsTest extends SharingOnBoards {

    private static final String MODE = "-i %s -c %s";
    private static final String QUERY = "-i %s --query-gpu=compute_mode --format=csv,noheader";
    private static final String READY = "mps get_default_active_thread_percentage";
    private static final String MIG = "gpu-0-mig-1g5gb-19-4";

    private MpsStandIn mps;

    @Override
    void installed() throws Exception {
        mps = MpsStandIn.install(node);
    }

    @AfterEach
    void killDaemons() throws Exception {
        stop();
        if (mps != null) {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
            mps.unmount(folder.resolve("mps"));
        }
    }

    private static String mpsConfig(String kind, String requests, String settings) {
        return config(kind, requests, "strategy: MPS, mpsConfig: {%s}".formatted(settings));
    }

    private AllocatedClaim shared(ClaimRef ref, String settings, String... devices) {
        return claim(ref, mpsConfig("GpuConfig", "", settings), devices);
    }

    private List<Path> groups() throws Exception {
        Path root = folder.resolve("mps");
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> found = Files.list(root)) {
            return found.toList();
        }
    }

    private static boolean isMounted(Path directory) throws Exception {
        return Files.readString(Path.of("/proc/self/mounts")).contains(" " + directory + " ");
    }

    private void assertNothingIsLeft() throws Exception {
        assertThat(mps.processes()).isEmpty();
        assertThat(groups()).isEmpty();
        assertThat(Files.readString(Path.of("/proc/self/mounts")))
                .doesNotContain(folder.resolve("mps").toString());
        assertThat(smi.mode(gpu0)).isEqualTo("DEFAULT");
    }

    @Test
    void isSetUpInOrderAndUndoneInReverse() throws Exception {
        install("l40s");

        claims.prepare(
                provider,
                shared(
                        ONE,
                        "defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 1Gi",
                        "gpu-0"));

        assertThat(smi.calls())
                .containsExactly(
                        QUERY.formatted(gpu0),
                        MODE.formatted(gpu0, "EXCLUSIVE_PROCESS"),
                        "mps -f " + gpu0,
                        READY,
                        "mps set_default_active_thread_percentage 50",
                        "mps set_default_device_pinned_mem_limit " + gpu0 + " 1024M");
        smi.forgetCalls();
        claims.unprepare(provider, ONE);
        assertThat(smi.calls()).containsExactly("mps quit", MODE.formatted(gpu0, "DEFAULT"));
        assertNothingIsLeft();
    }

    @Test
    void givesContainersTheSocketsAndTheMemoryOfTheDaemon() throws Exception {
        install("l40s");

        PreparedClaim prepared = claims.prepare(provider, shared(ONE, "", "gpu-0"));

        ContainerEdits edits = prepared.devices().get(0).edits();
        assertThat(edits.env()).containsEntry("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps");
        Path memory = mounted(edits, "/dev/shm");
        assertThat(isMounted(memory)).isTrue();
        assertThat(memory.resolve("cuda.shm.stand-in")).exists();
        assertThat(Files.getPosixFilePermissions(memory))
                .isEqualTo(PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(mounted(edits, "/tmp/nvidia-mps").resolve("control")).exists();
        assertThat(Files.getPosixFilePermissions(memory.getParent()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    private static Path mounted(ContainerEdits edits, String containerPath) {
        Mount mount =
                edits.mounts().stream()
                        .filter(one -> one.containerPath().equals(containerPath))
                        .findFirst()
                        .orElseThrow();
        assertThat(mount.options()).containsExactly("rw", "nosuid", "nodev", "bind");
        return Path.of(mount.hostPath());
    }

    @Test
    void findsTheLibrariesOfTheDriverAlone() throws Exception {
        install("l40s");
        Files.writeString(node.library().resolveSibling("libc.so.6"), "another C library");

        claims.prepare(provider, shared(ONE, "", "gpu-0"));

        assertThat(mps.libraries().resolve("libcuda.so.1")).exists();
        assertThat(mps.libraries().resolve("libc.so.6")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
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
                .containsExactlyElementsOf(
                        Stream.of(limit(gpu0, first), limit(gpu1, second))
                                .flatMap(List::stream)
                                .toList());
        assertThat(mps.calls()).contains("mps -f " + gpu0 + "," + gpu1);
    }

    private static List<String> limit(String gpu, Long mebibytes) {
        return mebibytes == null
                ? List.of()
                : List.of(
                        "mps set_default_device_pinned_mem_limit %s %dM".formatted(gpu, mebibytes));
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

    @Test
    void letsSeveralUsersShareIfThatIsAskedFor() throws Exception {
        install("l40s");

        claims.prepare(provider, shared(ONE, "multiUser: true", "gpu-0"));

        assertThat(mps.calls()).contains("mps -f -M " + gpu0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                                    | MPS with limits for each container needs 7.0
                    multiUser: true | MPS with multiUser needs 7.0
                    """)
    void refusesGpusBeforeVolta(String settings, String message) throws Exception {
        install("p40");

        assertThatThrownBy(
                        () ->
                                claims.prepare(
                                        provider,
                                        shared(ONE, settings == null ? "" : settings, "gpu-0")))
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

    @Test
    void isRefusedForAdminAccess() throws Exception {
        install("l40s");

        assertThatThrownBy(
                        () ->
                                claims.prepare(
                                        provider,
                                        claim(
                                                ONE,
                                                mpsConfig("GpuConfig", "", ""),
                                                "gpu-0, adminAccess: true")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("gpu-0 is allocated with admin access");
        assertThat(smi.calls()).isEmpty();
    }

    @Test
    void isRefusedForAGpuThatAnotherClaimSharesInAnotherWay() throws Exception {
        install("l40s");
        String slices = config("GpuConfig", "", "strategy: TimeSlicing");
        claims.prepare(provider, claim(ONE, slices, "gpu-0"));

        assertThatThrownBy(() -> claims.prepare(provider, shared(TWO, "", "gpu-0")))
                .hasMessage(
                        "%s is shared by claim default/one: it uses TimeSlicing, and this claim asks for MPS",
                        gpu0);
        claims.unprepare(provider, ONE);
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        assertThatThrownBy(() -> claims.prepare(provider, claim(TWO, slices, "gpu-0")))
                .hasMessageContaining("it uses MPS, and this claim asks for TimeSlicing");
        assertThatThrownBy(() -> claims.prepare(provider, shared(TWO, "", "gpu-0")))
                .hasMessageContaining("its MPS daemon has the device alone");
    }

    @Test
    void givesAGpuBackTheModeThatItHad() throws Exception {
        install("l40s");
        smi.setMode(gpu0, "PROHIBITED");

        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        assertThat(smi.mode(gpu0)).isEqualTo("EXCLUSIVE_PROCESS");
        claims.unprepare(provider, ONE);

        assertThat(smi.mode(gpu0)).isEqualTo("PROHIBITED");
    }

    @Test
    void ofTwoConfigurationsHasADaemonForEach() throws Exception {
        install("a100-40");
        String both =
                mpsConfig("GpuConfig", "of-gpu-0", "defaultActiveThreadPercentage: 10")
                        + ", "
                        + mpsConfig("GpuConfig", "of-gpu-1", "defaultActiveThreadPercentage: 20");

        claims.prepare(provider, claim(ONE, both, "gpu-0", "gpu-1"));

        assertThat(groups()).hasSize(2);
        assertThat(mps.calls())
                .contains("mps -f " + gpu0, "mps -f " + gpu1)
                .contains(
                        "mps set_default_active_thread_percentage 10",
                        "mps set_default_active_thread_percentage 20");
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();
    }

    @Test
    void aDaemonThatEndsAtOnceFailsTheClaimWithItsReason() throws Exception {
        install("l40s");
        mps.failAt("mps -f", 7);

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, "", "gpu-0")))
                .isInstanceOf(DraException.class)
                .hasMessage(
                        "The MPS daemon ended with exit code 7 before it was ready: the stand-in fails");
        assertThat(claims.held).isEmpty();
        assertNothingIsLeft();
    }

    @Test
    void aDaemonThatDoesNotAnswerIsKilledAtTheDeadline() throws Exception {
        install("l40s");
        claims.timeout = Duration.ofMillis(2500);
        mps.hangAt("mps -f");

        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, "", "gpu-0")))
                .hasMessageContaining("The MPS daemon does not answer within");
        assertThat(claims.held).isEmpty();
        assertNothingIsLeft();
    }

    @Test
    void aLimitThatTheDaemonRefusesFailsTheClaim() throws Exception {
        install("l40s");
        mps.failAt("pinned_mem", 1);

        assertThatThrownBy(
                        () ->
                                claims.prepare(
                                        provider,
                                        shared(
                                                ONE,
                                                "defaultPinnedDeviceMemoryLimit: 1Gi",
                                                "gpu-0")))
                .hasMessage(
                        "The MPS daemon did not take \"set_default_device_pinned_mem_limit %s 1024M\": the stand-in fails",
                        gpu0);
        assertNothingIsLeft();
    }

    @Test
    void aDaemonThatDoesNotQuitIsKilledWithItsServer() throws Exception {
        install("l40s");
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        assertThat(mps.processes()).as("daemon and server").hasSize(2);
        mps.failAt("mps quit", 1);

        claims.unprepare(provider, ONE);

        assertNothingIsLeft();
    }

    @Test
    void aGroupThatWaitsHoldsUpNoOther() throws Exception {
        install("a100-40");
        claims.timeout = Duration.ofSeconds(15);
        mps.hangAt("mps -f " + gpu0);
        CompletableFuture<Void> waiting =
                CompletableFuture.runAsync(
                        () -> claims.prepare(provider, shared(ONE, "", "gpu-0")));
        while (mps.processes().isEmpty()) {
            Thread.onSpinWait();
        }

        claims.prepare(provider, shared(TWO, "", "gpu-1"));
        claims.unprepare(provider, TWO);

        assertThat(waiting).isNotDone();
        mps.processes().forEach(ProcessHandle::destroyForcibly);
        assertThatThrownBy(waiting::join).hasMessageContaining("ended with exit code 137");
        assertNothingIsLeft();
    }

    @Test
    void ofAMigDeviceChangesNoGpu() throws Exception {
        install("a100-40-divided");
        String config =
                mpsConfig("MigDeviceConfig", "", "defaultPerDevicePinnedMemoryLimit: {'0': 1Gi}");

        claims.prepare(provider, claim(ONE, config, MIG));

        List<String> calls = mps.calls();
        assertThat(calls.get(0)).matches("mps -f MIG-[0-9a-f-]{36}");
        String uuid = calls.get(0).substring("mps -f ".length());
        assertThat(calls)
                .containsExactly(
                        "mps -f " + uuid,
                        READY,
                        "mps set_default_device_pinned_mem_limit " + uuid + " 1024M");
        claims.unprepare(provider, ONE);
        assertThat(mps.calls()).endsWith("mps quit");
        assertNothingIsLeft();
    }

    @Test
    void ofAMigDeviceOnDemandEndsBeforeTheDeviceDoes() throws Exception {
        install("h100-80", true);
        String config = mpsConfig("MigDeviceConfig", "", "");

        claims.prepare(provider, claim(ONE, config, "gpu-0-mig-1g10gb-19-4"));

        assertThat(hardware.instances()).hasSize(1);
        assertThat(mps.calls().get(0)).matches("mps -f MIG-[0-9a-f-]{36}");
        mps.failAt("quit", 1);
        claims.unprepare(provider, ONE);
        assertThat(hardware.instances()).isEmpty();
        assertNothingIsLeft();
    }

    @Test
    void survivesARestartOfTheDriver() throws Exception {
        install("l40s");
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        List<ProcessHandle> before = mps.processes();
        smi.forgetCalls();

        restart();
        context.awaitChange();
        context.awaitChange();

        assertThat(mps.processes()).isEqualTo(before);
        assertThat(smi.calls()).isEmpty();
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();
    }

    @Test
    void aDaemonThatDiedIsStartedAgainWithItsLimits() throws Exception {
        install("l40s");
        claims.prepare(
                provider,
                shared(
                        ONE,
                        "defaultActiveThreadPercentage: 30, defaultPinnedDeviceMemoryLimit: 1Gi",
                        "gpu-0"));
        String last = "mps set_default_device_pinned_mem_limit " + gpu0 + " 1024M";
        smi.setMode(gpu0, "DEFAULT"); // as after a reset of the GPU
        smi.forgetCalls();

        mps.processes().forEach(ProcessHandle::destroyForcibly);
        while (!mps.calls().contains(last)) {
            context.awaitChange();
        }

        assertThat(smi.calls())
                .containsExactly(
                        MODE.formatted(gpu0, "EXCLUSIVE_PROCESS"),
                        "mps -f " + gpu0,
                        READY,
                        "mps set_default_active_thread_percentage 30",
                        last);
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();
    }

    @Test
    void ofNoClaimIsEndedAndOfADamagedClaimStays() throws Exception {
        install("a100-40");
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        claims.prepare(provider, shared(TWO, "", "gpu-1"));
        claims.replace(claims.of(ONE).toBuilder().phase(Phase.DAMAGED).state(null).build());
        claims.held.removeIf(claim -> claim.ref().equals(TWO)); // its record is lost

        restart();
        while (groups().size() > 1) {
            context.awaitChange();
        }

        assertThat(smi.mode(gpu1)).isEqualTo("DEFAULT");
        assertThat(smi.mode(gpu0)).isEqualTo("EXCLUSIVE_PROCESS");
        assertThat(mps.processes()).hasSize(2);
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();
    }

    @Test
    void ofAnEarlierBootLeavesTheModesAlone() throws Exception {
        install("l40s");
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        claims.replace(claims.of(ONE).toBuilder().beforeReboot(true).build());
        Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another boot\n");
        smi.setMode(gpu0, "PROHIBITED");
        smi.forgetCalls();

        restart();
        while (!groups().isEmpty()) {
            context.awaitChange();
        }

        assertThat(smi.calls()).containsExactly("mps quit");
        assertThat(smi.mode(gpu0)).isEqualTo("PROHIBITED");
    }

    @Test
    void isLeftByNoCrashAtACheckpoint() throws Exception {
        install("l40s");
        claims.crashAt(1);
        assertThatThrownBy(() -> claims.prepare(provider, shared(ONE, "", "gpu-0")))
                .isInstanceOf(JournaledClaims.Crash.class);
        claims.crashAt(0);
        restart();
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();

        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        claims.crashAt(1);
        assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                .isInstanceOf(JournaledClaims.Crash.class);
        claims.crashAt(0);
        restart();
        claims.unprepare(provider, ONE);
        assertNothingIsLeft();
    }
}
