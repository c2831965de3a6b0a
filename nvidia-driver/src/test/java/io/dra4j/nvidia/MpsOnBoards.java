// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.nvidia.standin.MpsStandIn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.condition.EnabledIf;

/** Claims that share devices by MPS, with a stand-in of its daemons beside that of nvidia-smi. */
@EnabledIf(
        value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
        disabledReason = "MPS daemons need root, and the right to mount")
abstract class MpsOnBoards extends SharingOnBoards {

    MpsStandIn mps;

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

    static String mpsConfig(String kind, String requests, String settings) {
        return config(kind, requests, "strategy: MPS, mpsConfig: {%s}".formatted(settings));
    }

    final AllocatedClaim shared(ClaimRef ref, String settings, String... devices) {
        return claim(ref, mpsConfig("GpuConfig", "", settings), devices);
    }

    final List<Path> groups() throws Exception {
        Path root = folder.resolve("mps");
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> found = Files.list(root)) {
            return found.toList();
        }
    }

    static boolean isMounted(Path directory) throws Exception {
        return Files.readString(Path.of("/proc/self/mounts")).contains(" " + directory + " ");
    }

    final void assertNothingIsLeft() throws Exception {
        assertThat(mps.processes()).isEmpty();
        assertThat(groups()).isEmpty();
        assertThat(Files.readString(Path.of("/proc/self/mounts")))
                .doesNotContain(folder.resolve("mps").toString());
        assertThat(smi.mode(gpu0)).isEqualTo("DEFAULT");
    }
}
