// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.ClaimPreview;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;

/** GPUs for virtual machines, with a stand-in of the kernel that binds drivers. */
abstract class VfioOnBoards extends SharingOnBoards {

    static final Duration SOON = Duration.ofSeconds(30);
    static final String VFIO = PciStandIn.VFIO;
    static final String NVIDIA = PciStandIn.NVIDIA;

    PciStandIn kernel;
    String address0;
    boolean machines;
    Duration users = Duration.ofMillis(300);
    Duration unbind = Duration.ofSeconds(10);
    InstantSource clock = InstantSource.system();

    @Override
    final Passthrough.Settings passthrough() {
        return new Passthrough.Settings(
                machines, node.sysfs(), node.proc(), users, unbind, Duration.ofSeconds(10), () -> clock.instant());
    }

    /** Called with boards and the driver in place: the kernel comes before its first reading. */
    final void begin(String boards, boolean dynamicMig) throws Exception {
        machines = true;
        install(boards, dynamicMig);
        kernel = PciStandIn.install(node);
        address0 = kernel.gpus().get(0);
        provider.inventory();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
    }

    final void begin() throws Exception {
        begin("l40s", false);
    }

    @AfterEach
    final void end() throws Exception {
        stop();
        if (kernel != null) {
            kernel.close();
        }
    }

    /** Starts a process that has a file open. The node has no others: those of other tests are not seen. */
    final Process open(Path file) throws IOException {
        Process user =
                new ProcessBuilder("sleep", "300").redirectInput(file.toFile()).start();
        String pid = String.valueOf(user.pid());
        Files.createSymbolicLink(node.proc().resolve(pid), Path.of("/proc", pid));
        return user;
    }

    final Map<String, Device> devices() {
        return provider.inventory().pools().get(0).devices().stream()
                .collect(Collectors.toMap(it -> it.name().value(), Function.identity()));
    }

    final AllocatedClaim machine(ClaimRef ref, String iommu, String... devices) {
        String config = """
                {source: FromClaim, requests: [], opaque: {driver: gpu.nvidia.com, parameters:
                  {apiVersion: resource.nvidia.com/v1beta1, kind: VfioDeviceConfig, iommu: {%s}}}}
                """.formatted(iommu).strip();
        return claim(ref, config, devices);
    }

    final AllocatedClaim machine(ClaimRef ref) {
        return machine(ref, "", "gpu-vfio-0");
    }

    static List<String> nodes(PreparedDevice device) {
        return device.edits().deviceNodes().stream().map(DeviceNode::path).toList();
    }

    final void refuses(AllocatedClaim claim, String... words) {
        assertThatThrownBy(() -> claims.prepare(provider, claim))
                .isInstanceOf(PrepareException.class)
                .hasMessageContainingAll(words);
    }
}
