// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.MpsStandIn;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** MPS of a driver that is killed in a call of nvidia-smi, of the daemon, or of its client. */
@EnabledIf(
        value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
        disabledReason = "MPS daemons need root, and the right to mount")
@Tag("gate")
class MpsCrashIT extends SharingCrashes {

    private static final String LIMITED =
            "{strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 1Gi}}";

    /** The number of the daemon's start: what it does comes after its parent's death. */
    private static final int DAEMON = 3;

    /** Query and change of the mode, daemon, question, two limits, end, mode. */
    private static final int CALLS = 8;

    private MpsStandIn mps;

    @Override
    void installed() throws Exception {
        mps = MpsStandIn.install(node);
    }

    @Override
    void assertNothingIsLeft() throws Exception {
        assertThat(mps.processes()).isEmpty();
        assertThat(smi.mode(gpu)).isEqualTo("DEFAULT");
        assertThat(Files.readString(Path.of("/proc/self/mounts")))
                .doesNotContain(directory().toString());
        assertIsEmpty("mps");
    }

    @AfterEach
    void killDaemons() throws Exception {
        if (mps != null) {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
            mps.unmount(folder);
        }
    }

    @Test
    void isUndoneAfterAKill() throws Exception {
        start();

        crash(LIMITED, DAEMON, true); // the mode is set, the memory is mounted
        crash(LIMITED, DAEMON + 2, true); // the daemon runs
        crash(LIMITED, CALLS, true); // the daemon has ended
    }

    @Test
    @Tag("nightly")
    void isUndoneAfterAKillInAnyCall() throws Exception {
        start();

        for (int call = 1; call <= CALLS; call++) {
            crash(LIMITED, call, true);
            if (call != DAEMON) {
                crash(LIMITED, call, false);
            }
        }
    }
}
