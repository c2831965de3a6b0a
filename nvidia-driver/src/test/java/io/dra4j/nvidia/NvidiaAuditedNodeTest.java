// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Report;
import io.dra4j.nvidia.takeover.GoFiles;
import java.nio.file.Files;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Claims of NVIDIA's own driver that an audit finds; what claims and GPUs contradict is in claim-scenarios.txt. */
class NvidiaAuditedNodeTest extends ProviderOnBoards {

    private void assertFound(String object) {
        assertThat(audit(false).findings()).singleElement().satisfies(found -> {
            assertThat(found.id()).isEqualTo("nvidia-checkpoint");
            assertThat(found.object()).contains(object);
        });
    }

    private void leave(byte[] checkpoint) throws Exception {
        Files.write(folder.resolve("checkpoint.json"), checkpoint);
    }

    @Test
    void claimsOfNvidiasDriverAreFound() throws Exception {
        install("l40s");
        claims.prepare(provider, claim(ONE, "", "gpu-0"));
        leave(GoFiles.prepared(ONE.uid(), gpu0, BOOT));
        assertThat(audit(false).findings()).isEmpty();

        claims.held.clear();
        assertFound("claim " + ONE.uid());
        leave(GoFiles.prepared(ONE.uid(), gpu0, "")); // by a release that does not record the boot
        assertFound("claim " + ONE.uid());

        Files.writeString(folder.resolve("checkpoint.json"), "{}");
        assertFound("checkpoint.json");
        assertThat(audit(false).findings().get(0).fix())
                .satisfiesExactly(
                        cordon -> assertThat(cordon).isEqualTo("kubectl cordon node-1"),
                        move -> assertThat(move).startsWith("sudo mv " + folder),
                        drain -> assertThat(drain).startsWith("kubectl drain node-1"),
                        uncordon -> assertThat(uncordon).isEqualTo("kubectl uncordon node-1"));
    }

    @Test
    void claimsOfNvidiasDriverEndWithTheirBoot() throws Exception {
        install("l40s");

        leave(GoFiles.prepared(ONE.uid(), gpu0, "boot-0"));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.HEALTHY);

        leave(GoFiles.prepared(ONE.uid(), gpu0, ""));
        node.booted(Instant.now().plusSeconds(60));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.HEALTHY);
        Files.delete(node.proc().resolve("stat"));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.INCOMPLETE);
    }

    @Test
    void claimsThatNvidiasDriverHasBegunAreFoundIfTheyMayHaveChangedTheHardware() throws Exception {
        install("l40s");

        leave(GoFiles.begun(ONE.uid(), "", BOOT));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.HEALTHY);

        leave(GoFiles.begun(ONE.uid(), "{}", BOOT));
        assertFound("claim " + ONE.uid());
        assertThat(audit(false).findings().get(0).what()).contains("has begun to prepare it");
    }
}
