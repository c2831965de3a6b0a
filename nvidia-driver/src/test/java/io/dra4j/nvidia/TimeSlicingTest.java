// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.slicing.TimeSlicing;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.state.GpuFiles;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims that share GPUs by time slices, with a stand-in of nvidia-smi that records its calls. */
@Tag("slow")
class TimeSlicingTest extends SharingOnBoards {

    private static final String RESET = "compute-policy -i %s --set-timeslice 0";

    private static String slices(String requests, String interval) {
        return config(
                "GpuConfig", requests, "strategy: TimeSlicing, timeSlicingConfig: {interval: %s}".formatted(interval));
    }

    private AllocatedClaim sliced(ClaimRef ref, String interval, String... devices) {
        return claim(ref, slices("", interval), devices);
    }

    private List<String> setting(String gpu, int number) {
        return List.of(
                "-i " + gpu + " --query-gpu=compute_mode --format=csv,noheader",
                "compute-policy -i " + gpu + " --list",
                "compute-policy -i " + gpu + " --set-timeslice " + number);
    }

    @ParameterizedTest
    @CsvSource({"Short, 1", "Medium, 2", "Long, 3"})
    void areSetInOrderAndResetAtTheEnd(String interval, int number) throws Exception {
        install("l40s");

        claims.prepare(provider, sliced(ONE, interval, "gpu-0"));

        assertThat(smi.calls()).isEqualTo(setting(gpu0, number));
        assertThat(smi.preloaded()).isEqualTo(node.library().toString());
        smi.forgetCalls();
        claims.unprepare(provider, ONE);
        assertThat(smi.calls()).containsExactly(RESET.formatted(gpu0));
        assertThat(node.folder().resolve("time-slices")).isEmptyDirectory();
    }

    @Test
    void areNeverImplied() throws Exception {
        install("l40s");

        claims.prepare(
                provider, claim(ONE, config("GpuConfig", "", "strategy: X").replace("{strategy: X}", "null"), "gpu-0"));
        assertThat(claims.of(ONE).state()).isNull();
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).isEmpty();
    }

    @Test
    void ofTwoRequestsAndConfigurationsAreOfEachGpu() throws Exception {
        install("a100-40");
        String both = slices("of-gpu-0", "Long") + ", " + slices("of-gpu-1", "Short");

        claims.prepare(provider, claim(ONE, both, "gpu-0", "gpu-1"));

        assertThat(smi.slice(gpu0)).isEqualTo(3);
        assertThat(smi.slice(gpu1)).isEqualTo(1);
        claims.unprepare(provider, ONE);
        assertThat(smi.slice(gpu0)).isZero();
        assertThat(smi.slice(gpu1)).isZero();
    }

    @Test
    void areSetOnceForAllSharersAndResetAfterTheLast() throws Exception {
        install("l40s");

        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        claims.prepare(provider, sliced(TWO, "Long", "gpu-0"));
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).isEqualTo(setting(gpu0, 3));
        claims.unprepare(provider, TWO);
        assertThat(smi.calls()).hasSize(4).endsWith(RESET.formatted(gpu0));
    }

    @Test
    void ofAnotherIntervalAreRefusedWithTheHolder() throws Exception {
        install("l40s");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));

        assertThatThrownBy(() -> claims.prepare(provider, sliced(TWO, "Short", "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessage(
                        "%s is shared by claim default/one: its time-slice interval is Long, and this claim asks for Short; ask for the same, or for another GPU",
                        gpu0);

        assertThat(smi.calls()).isEqualTo(setting(gpu0, 3));
        assertThat(claims.held).extracting(HeldClaim::ref).containsExactly(ONE);
        claims.unprepare(provider, ONE);
        claims.prepare(provider, sliced(TWO, "Short", "gpu-0"));
        assertThat(smi.slice(gpu0)).isEqualTo(1);
    }

    @Test
    void ofAMigDeviceHaveNoEffectAndThatIsSaid() throws Exception {
        install("a100-40-divided");
        String config = config("MigDeviceConfig", "", "strategy: TimeSlicing");

        claims.prepare(provider, claim(ONE, config, "gpu-0-mig-1g5gb-19-4"));

        assertThat(smi.calls()).isEmpty();
        assertThat(claims.of(ONE).state()).isNull();
        assertThat(context.notices)
                .containsExactly(
                        "gpu-0-mig-1g5gb-19-4: Claim default/one asks for TimeSlicing on MIG device gpu-0-mig-1g5gb-19-4, which has no effect: only whole GPUs have time slices");
    }

    @Test
    void thatCannotBeSetAreFatalIfTheyWereAskedFor() throws Exception {
        install("l40s");
        smi.failAt("set-timeslice", 3);

        assertThatThrownBy(() -> claims.prepare(provider, sliced(ONE, "Long", "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessage(
                        "time slices of %s can't be set to Long: nvidia-smi compute-policy -i %s --set-timeslice 3 failed with exit code 3: the stand-in fails",
                        gpu0, gpu0);
        assertThat(claims.held).isEmpty();
        assertThat(smi.calls()).isEqualTo(setting(gpu0, 3));
        smi.remove();
        assertThatThrownBy(() -> claims.prepare(provider, sliced(ONE, "Long", "gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("usr/bin/nvidia-smi");
        assertThat(claims.held).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"-c", "set-timeslice"})
    void thatCannotBeSetAreNotFatalIfNoneWereAskedFor(String failing) throws Exception {
        install("l40s");
        smi.setMode(gpu0, "PROHIBITED");
        smi.failAt(failing, 255);

        claims.prepare(provider, sliced(ONE, "Default", "gpu-0"));
        claims.prepare(provider, claim(TWO, config("GpuConfig", "", "strategy: TimeSlicing"), "gpu-0"));
        claims.unprepare(provider, ONE);
        claims.unprepare(provider, TWO);

        assertThat(smi.calls()).allMatch(call -> call.contains(gpu0)).noneMatch(call -> call.endsWith("3"));
    }

    @Test
    void aProgramThatHangsIsKilledAtTheDeadline() throws Exception {
        install("l40s");
        claims.timeout = Duration.ofMillis(5000);
        smi.hangAt("set-timeslice 3");

        assertThatThrownBy(() -> claims.prepare(provider, sliced(ONE, "Long", "gpu-0")))
                .hasMessageContaining("was killed");

        assertThat(smi.hanging()).isEmpty();
        assertThat(claims.held).isEmpty();
        assertThat(smi.calls()).endsWith(RESET.formatted(gpu0)); // it may have been set
    }

    @Test
    void areWhatTheyWereAfterwardsAndSoIsTheComputeMode() throws Exception {
        install("l40s");
        smi.setMode(gpu0, "PROHIBITED");
        smi.setSlice(gpu0, 2);

        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        assertThat(smi.mode(gpu0)).isEqualTo("DEFAULT");
        claims.unprepare(provider, ONE);

        assertThat(smi.mode(gpu0)).isEqualTo("PROHIBITED");
        assertThat(smi.slice(gpu0)).isEqualTo(2);
        assertThat(context.notices).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"set-timeslice 0", "PROHIBITED"})
    void thatCannotBeResetTaintTheGpuAndDoNotKeepTheClaim(String failing) throws Exception {
        install("l40s");
        smi.setMode(gpu0, "PROHIBITED");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        smi.failAt(failing, 255);

        claims.unprepare(provider, ONE);

        assertLeftAndPutBack("gpu-0");
        assertThat(smi.mode(gpu0)).isEqualTo("PROHIBITED");
        assertThat(smi.slice(gpu0)).isZero();
    }

    @Test
    void endWithTheirGpu() throws Exception {
        install("l40s");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        smi.failAt("set-timeslice 0", 6);

        claims.unprepare(provider, ONE);

        assertThat(node.folder().resolve("time-slices")).isEmptyDirectory();
        assertThat(TaintsOnBoards.taints(provider)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"TimeSlicing, true", "MPS, true", "TimeSlicing, false"})
    void areNotForAnObserverWhoKeepsNoOwnerOut(String strategy, boolean isFirst) throws Exception {
        install("l40s");
        AllocatedClaim owner = sliced(ONE, "Short", "gpu-0");
        if (!isFirst) {
            claims.prepare(provider, owner);
        }
        List<String> before = smi.calls();

        assertThatThrownBy(
                        () -> claim(TWO, config("GpuConfig", "", "strategy: " + strategy), "gpu-0, adminAccess: true"))
                .isInstanceOf(PrepareException.class)
                .hasMessageStartingWith(
                        "config 0 from the claim: GpuConfig would change the devices of request of-gpu-0, which has admin access");
        claims.prepare(provider, claim(TWO, "", "gpu-0, adminAccess: true"));
        assertThat(smi.calls()).isEqualTo(before);
        if (isFirst) {
            claims.prepare(provider, owner);
        }
        claims.unprepare(provider, TWO);
        assertThat(smi.slice(gpu0)).isEqualTo(1);
        claims.unprepare(provider, ONE);
        assertThat(smi.slice(gpu0)).isZero();
    }

    @Test
    void ofClaimsThatAreHeldStayOverARestartAndOthersAreReset() throws Exception {
        install("a100-40");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        claims.prepare(provider, sliced(TWO, "Short", "gpu-1"));
        claims.held.removeIf(claim -> claim.ref().equals(TWO)); // its record is lost
        smi.forgetCalls();

        restart();
        awaitReset(gpu1);

        assertThat(smi.calls()).containsExactly(RESET.formatted(gpu1));
        assertThat(smi.slice(gpu0)).isEqualTo(3);
        claims.unprepare(provider, ONE);
        assertThat(smi.slice(gpu0)).isZero();
    }

    @Test
    void ofNoClaimDoNotTakeTheModeOfAClaimThatComesMeanwhile() throws Exception {
        install("l40s");
        String exclusive = "EXCLUSIVE_PROCESS";
        NvidiaSmi program = node.options().nvidiaSmi();
        GpuFiles before = new GpuFiles(folder.resolve("modes-before"), () -> "");
        before.write(gpu0, List.of("DEFAULT")); // a restore has failed
        smi.setMode(gpu0, exclusive);
        ComputeModes modes = new ComputeModes(program, before);
        Thread claim = new Thread(() -> modes.change(List.of(gpu0), exclusive, () -> Duration.ofSeconds(60)));
        Set<Thread.State> waitsOrEnded = Set.of(Thread.State.WAITING, Thread.State.TERMINATED);

        TimeSlicing slicing = new TimeSlicing(program, new GpuFiles(folder.resolve("no-slices"), () -> ""), modes);
        slicing.clean(
                () -> {
                    claim.start();
                    Await.until("the claim", Duration.ofSeconds(60), () -> waitsOrEnded.contains(claim.getState()));
                    return Holders.of(List.of(), device -> Optional.empty());
                },
                () -> {});
        claim.join();

        assertThat(smi.mode(gpu0)).isEqualTo(exclusive);
    }

    /** The interval between readings is short here. */
    private void awaitReset(String gpu) throws Exception {
        Await.until("the reset of " + gpu, Duration.ofSeconds(60), () -> smi.slice(gpu) == 0);
    }

    @Test
    void ofADamagedClaimStayUntilItIsUnprepared() throws Exception {
        install("a100-40");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        claims.prepare(provider, sliced(TWO, "Short", "gpu-1"));
        claims.replace(
                claims.of(ONE).toBuilder().phase(Phase.DAMAGED).state(null).build());
        restart();
        context.awaitChange();
        context.awaitChange();
        assertThat(smi.slice(gpu0)).isEqualTo(3);

        claims.unprepare(provider, ONE);

        assertThat(smi.slice(gpu0)).isZero();
        assertThat(smi.slice(gpu1)).isEqualTo(1);
    }

    @Test
    void endWithTheKernelModule() throws Exception {
        install("l40s");
        claims.prepare(provider, sliced(ONE, "Long", "gpu-0"));
        claims.replace(claims.of(ONE).toBuilder().beforeReboot(true).build());
        Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another boot\n");
        smi.forgetCalls();

        restart();
        claims.unprepare(provider, ONE);
        claims.prepare(provider, sliced(TWO, "Short", "gpu-0"));

        assertThat(smi.calls()).isEqualTo(setting(gpu0, 1));
    }
}
