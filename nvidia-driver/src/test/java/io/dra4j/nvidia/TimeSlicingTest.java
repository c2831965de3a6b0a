// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.slicing.TimeSlicing;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.state.GpuFiles;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Claims that share GPUs by time slices, with a stand-in of nvidia-smi that records its calls. */
@Tag("slow")
class TimeSlicingTest extends ProviderOnBoards {

    private static final String RESET = "compute-policy -i %s --set-timeslice 0";

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
}
