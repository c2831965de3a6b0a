// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.takeover.GoFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contradictions between claims and GPUs, on boards that do not exist. */
class NvidiaAuditedNodeTest extends SharingOnBoards {

    private static final String MIG = "gpu-0-mig-1g10gb-19-4";
    private static final String SLICES =
            config("GpuConfig", "", "strategy: TimeSlicing, timeSlicingConfig: {interval: Long}");

    private void assertFound(boolean dynamicMig, String id, String object) {
        assertThat(audit(dynamicMig).findings()).singleElement().satisfies(found -> {
            assertThat(found.id()).isEqualTo(id);
            assertThat(found.object()).contains(object);
        });
    }

    @Test
    void claimsWithMigDevicesAndTimeSlicesAreHealthy() throws Exception {
        install("h100-80", true);
        claims.prepare(provider, claim(ONE, "", MIG));
        assertThat(audit(true).exitStatus()).isEqualTo(Report.HEALTHY);
    }

    @Test
    void aMigDeviceOfNoClaimIsFound() throws Exception {
        install("h100-80", true);
        claims.prepare(provider, claim(ONE, "", MIG));
        claims.held.clear();
        assertFound(true, "mig-leftover", "of " + gpu0);
    }

    @Test
    void aMigDeviceThatIsGoneIsFound() throws Exception {
        install("h100-80", true);
        claims.prepare(provider, claim(ONE, "", MIG));
        try (var nvml = node.nvml()) {
            nvml.destroy(gpu0, nvml.instances(gpu0).get(0));
        }
        assertFound(true, "mig-gone", "claim default/one");
        assertThat(audit(true).findings().get(0).mend()).containsExactly("pods of " + ONE.uid());
    }

    @Test
    void timeSlicesOfNoClaimAreFound() throws Exception {
        install("l40s");
        claims.prepare(provider, claim(ONE, SLICES, "gpu-0"));
        assertThat(audit(false).findings()).isEmpty();
        stop(); // the driver resets them
        claims.held.clear();
        assertFound(false, "sharing-leftover", "time slices of " + gpu0);
    }

    private void loseRecord(ClaimRef ref, List<HeldDevice> devices) {
        claims.replace(
                HeldClaim.builder(ref).phase(Phase.DAMAGED).devices(devices).build());
    }

    @Test
    void aClaimWithALostRecordMayHaveTheTimeSlicesOfItsDevicesAlone() throws Exception {
        install("l40s");
        claims.prepare(provider, claim(ONE, SLICES, "gpu-0"));
        claims.prepare(provider, claim(TWO, "", "gpu-1"));
        loseRecord(ONE, claims.of(ONE).devices());
        assertThat(audit(false).exitStatus()).isEqualTo(Report.HEALTHY);

        stop(); // the driver resets them
        claims.held.removeIf(claim -> claim.ref().equals(ONE));
        loseRecord(TWO, claims.of(TWO).devices());
        assertFound(false, "sharing-leftover", "time slices of " + gpu0);
    }

    @Test
    void aClaimWithALostRecordMayHaveTheMigDevicesThatItWasAllocated() throws Exception {
        install("h100-80", true);
        claims.prepare(provider, claim(ONE, "", MIG));
        claims.prepare(provider, claim(TWO, "", "gpu-0-mig-1g10gb-19-5"));
        List<HeldDevice> devices = claims.of(ONE).devices();
        loseRecord(ONE, devices);
        assertThat(audit(true).exitStatus()).isEqualTo(Report.HEALTHY);

        claims.held.removeIf(claim -> claim.ref().equals(TWO));
        assertFound(true, "mig-leftover", "of " + gpu0);

        loseRecord(ONE, List.of());
        assertThat(audit(true).findings()).isEmpty();
        assertThat(audit(true).text()).containsPattern("not checked +mig-leftover.* " + ONE.uid());
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
        assertFound(false, "nvidia-checkpoint", "claim " + ONE.uid());
        leave(GoFiles.prepared(ONE.uid(), gpu0, "")); // by a release that does not record the boot
        assertFound(false, "nvidia-checkpoint", "claim " + ONE.uid());

        Files.writeString(folder.resolve("checkpoint.json"), "{}");
        assertFound(false, "nvidia-checkpoint", "checkpoint.json");
        assertThat(audit(false).findings().get(0).mend())
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
        Path spec = cdi.resolve("k8s.gpu.nvidia.com-claim_%s.yaml".formatted(ONE.uid()));
        Files.writeString(spec, ""); // the clock was set: a boot would have deleted it
        assertFound(false, "nvidia-checkpoint", "claim " + ONE.uid());
        Files.delete(spec);
        Files.delete(node.proc().resolve("stat"));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.INCOMPLETE);
    }

    @Test
    void claimsThatNvidiasDriverHasBegunAreFoundIfTheyMayHaveChangedTheHardware() throws Exception {
        install("l40s");

        leave(GoFiles.begun(ONE.uid(), "", BOOT));
        assertThat(audit(false).exitStatus()).isEqualTo(Report.HEALTHY);

        leave(GoFiles.begun(ONE.uid(), "{}", BOOT));
        assertFound(false, "nvidia-checkpoint", "claim " + ONE.uid());
        assertThat(audit(false).findings().get(0).what()).contains("has begun to prepare it");
    }

    @Test
    void withoutNvmlHardwareIsNotChecked() throws Exception {
        install("l40s");
        Files.delete(node.library());
        Report report = audit(true);
        assertThat(report.findings()).extracting(Finding::id).isEmpty();
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
    }
}
