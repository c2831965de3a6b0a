// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Claims of one GPU, and of two MIG devices, for containers that share them by MPS. */
@EnabledIf(
        value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
        disabledReason = "MPS daemons need root, and the right to mount")
class MpsDemoIT {

    private static final String CONFIG =
            """
            apiVersion: resource.nvidia.com/v1beta1
            kind: %s
            sharing:
              strategy: MPS
              mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 4Gi}
            """;

    @TempDir private Path folder;

    @ParameterizedTest
    @CsvSource({"l40s, GpuConfig, 1", "a100-40-divided, MigDeviceConfig, 2"})
    void havePodsWithADaemonForEachConfiguration(String boards, String kind, int devices)
            throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), boards);
        SmiStandIn.install(node);
        MpsStandIn mps = MpsStandIn.install(node);
        JsonNode config = new YAMLMapper().readTree(CONFIG.formatted(kind));
        try (TestContext context =
                DriverJar.context(
                        DriverJar.command(folder),
                        node,
                        "mps",
                        "--feature-gates=MPSSupport=true")) {
            ClaimDraft draft = context.claims().draft();
            for (PublishedDevice device : context.devices().all().subList(0, devices)) {
                draft.request("for-" + device.name(), device)
                        .config(config, "for-" + device.name());
            }
            KubeletClaim claim = context.claims().create(draft);

            context.calls().prepared(claim);

            assertThat(mps.processes()).as("daemons and servers").hasSize(2 * devices);
            assertThat(mps.calls().stream().filter(call -> call.endsWith("percentage 50")))
                    .hasSize(devices);
            context.calls().unprepared(claim);
            assertThat(mps.processes()).isEmpty();
        } finally {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
        }
    }
}
