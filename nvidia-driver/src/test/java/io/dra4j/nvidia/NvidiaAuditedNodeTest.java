// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.takeover.GoCheckpointWriter;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Entry;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Group;
import io.dra4j.nvidia.vfio.Passthrough;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contradictions between claims and GPUs, on boards that do not exist. */
class NvidiaAuditedNodeTest extends SharingOnBoards {

    private static final String MIG = "gpu-0-mig-1g10gb-19-4";
    private static final String SLICES =
            config("GpuConfig", "", "strategy: TimeSlicing, timeSlicingConfig: {interval: Long}");

    private Report audit(boolean dynamicMig) {
        Nvml nvml = node.nvml();
        try (NvidiaAuditedNode audited =
                new NvidiaAuditedNode(
                        nvml,
                        new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, shares),
                        sharing(),
                        new Passthrough(
                                nvml,
                                node.options().nvidiaSmi(),
                                new Passthrough.Settings(false, node.sysfs(), node.proc())),
                        folder,
                        List.of())) {
            return Report.of("audit", "node-1", audited.checks(List.copyOf(claims.held)));
        }
    }

    private void assertFound(boolean dynamicMig, String id, String object) {
        assertThat(audit(dynamicMig).findings())
                .singleElement()
                .satisfies(
                        found -> {
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
    }

    @Test
    void timeSlicesOfNoClaimAreFound() throws Exception {
        install("l40s");
        claims.prepare(provider, claim(ONE, SLICES, "gpu-0"));
        assertThat(audit(false).findings()).isEmpty();
        claims.held.clear();
        assertFound(false, "sharing-leftover", "time slices of " + gpu0);
    }

    @Test
    void claimsOfNvidiasDriverAreFound() throws Exception {
        install("l40s");
        claims.prepare(provider, claim(ONE, "", "gpu-0"));
        GoCheckpointWriter writer = new GoCheckpointWriter("gpu.nvidia.com", "boot-1");
        Entry gpu = new Entry(claims.of(ONE).devices().get(0), gpu0, null);
        writer.add(ONE.uid(), List.of(new Group(List.of(gpu), false)));
        Files.write(folder.resolve("checkpoint.json"), writer.toBytes());
        assertThat(audit(false).findings()).isEmpty();

        claims.held.clear();
        assertFound(false, "nvidia-checkpoint", "claim " + ONE.uid());

        Files.writeString(folder.resolve("checkpoint.json"), "{}");
        assertFound(false, "nvidia-checkpoint", "checkpoint.json");
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
