// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoForm;
import io.dra4j.nvidia.vfio.Passthrough;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims of this driver in the checkpoint of NVIDIA's own. */
class CheckpointExportTest extends ProviderOnBoards {

    private static final String MIG = "gpu-1-mig-1g10gb-19-4";
    private static final int MEDIA = 20; // 1g.10gb+me, which has the place of 1g.10gb
    private static final String SLICES =
            config("GpuConfig", "of-gpu-1", "strategy: TimeSlicing, timeSlicingConfig: {interval: Long}");

    private boolean dynamicMig;

    private byte[] exported() {
        return new CheckpointExport(
                        "gpu.nvidia.com",
                        nvml,
                        new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, shares),
                        new Passthrough(nvml, node.options().nvidiaSmi(), passthrough()),
                        GoForm.of("0.5"))
                .checkpoint("boot-1", claims.held);
    }

    private void assertRefused(String... reasons) {
        assertThatThrownBy(this::exported)
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("NVIDIA's driver can't continue with these claims:\n- claim ")
                .hasMessageContainingAll(reasons)
                .hasMessageContaining("kubectl drain node-1 --ignore-daemonsets");
    }

    private void hold(ClaimRef claim, ProviderState state, HeldDevice.Builder device) {
        claims.held.add(HeldClaim.builder(claim)
                .phase(Phase.PREPARED)
                .devices(List.of(device.build()))
                .state(state)
                .build());
    }

    private static HeldDevice.Builder device(String name) {
        return HeldDevice.builder("r", new PoolName("node-1"), new DeviceName(name));
    }

    private JsonNode prepared(ClaimRef claim) throws Exception {
        return new ObjectMapper().readTree(exported()).at("/v2/preparedClaims/" + claim.uid() + "/preparedDevices");
    }

    @Test
    void claimsAreThoseThatNvidiasDriverReads() throws Exception {
        begin();
        claims.prepare(provider, claim(ONE, "", "gpu-0"));

        Path file = Files.write(folder.resolve("checkpoint.json"), exported());

        GoCheckpoint read = GoCheckpoint.read(file).orElseThrow();
        assertThat(read.bootId()).isEqualTo("boot-1");
        assertThat(read.claims()).singleElement().satisfies(claim -> {
            assertThat(claim.uid()).isEqualTo(ONE.uid());
            assertThat(claim.isPrepared()).isTrue();
            assertThat(claim.devices().get(0).name()).isEqualTo("gpu-0");
            assertThat(claim.devices().get(0).uuid()).isEqualTo(gpu0);
        });
    }

    /** That driver resets the slices of a group as one. */
    @Test
    void devicesWithTimeSlicesAreAGroupOfTheirOwn() throws Exception {
        begin();
        claims.prepare(provider, claim(ONE, SLICES, "gpu-0", "gpu-1"));
        claims.prepare(provider, claim(TWO, "", "gpu-2"));

        JsonNode groups = prepared(ONE);

        assertThat(groups).hasSize(2);
        assertThat(groups.at("/0/configState/timeSliceApplied").asBoolean()).isTrue();
        assertThat(groups.at("/0/devices")).hasSize(1);
        assertThat(groups.at("/0/devices/0/gpu/info/uuid").asText()).isEqualTo(gpu1);
        assertThat(groups.at("/1/configState/timeSliceApplied").asBoolean()).isFalse();
        assertThat(groups.at("/1/devices")).hasSize(1);
        assertThat(groups.at("/1/devices/0/gpu/info/uuid").asText()).isEqualTo(gpu0);
        assertThat(prepared(TWO)).hasSize(1);
        assertThat(prepared(TWO).at("/0/configState/timeSliceApplied").asBoolean())
                .isFalse();
    }

    @Test
    void migDevicesThatWereCreatedHaveTheirNumbers() throws Exception {
        dynamicMig = true;
        begin("h100-80", true);
        claims.prepare(provider, claim(TWO, "", MIG.replace("-19-4", "-19-0")));
        claims.prepare(provider, claim(ONE, "", MIG));

        assertIsDevice(
                prepared(ONE).at("/0/devices/0/mig/concrete"),
                nvml.instances(gpu1).stream()
                        .filter(instance -> instance.placement().start() == 4)
                        .findFirst()
                        .orElseThrow()
                        .devices()
                        .get(0));

        nvml.instances(gpu1).forEach(instance -> nvml.destroy(gpu1, instance));
        nvml.createCompute(gpu1, nvml.createInstance(gpu1, MEDIA, new InstancePlacement(4, 1)));
        assertRefused(
                "- claim " + ONE + ": MIG device " + MIG + " no longer exists", "- claim " + TWO + ": MIG device ");
    }

    private void assertIsDevice(JsonNode concrete, MigDevice device) {
        Gpu parent = nvml.read().gpus().get(1);
        assertThat(concrete.path("parentMinor").asInt())
                .isEqualTo(parent.minor())
                .isEqualTo(1);
        assertThat(concrete.path("giId").asInt()).isEqualTo(device.gpuInstance());
        assertThat(concrete.path("ciId").asInt()).isEqualTo(device.computeInstance());
        assertThat(concrete.path("migUUID").asText()).isEqualTo(device.uuid());
        assertThat(concrete.path("parentUUID").asText()).isEqualTo(gpu1);
        assertThat(concrete.path("parentPCIBusID").asText())
                .isEqualTo(parent.pci().text());
    }

    @Test
    void migDevicesOfAnAdministratorHaveTheirUuids() throws Exception {
        begin("a100-40-divided", false);
        String name = devices().keySet().stream()
                .filter(one -> one.startsWith("gpu-0-mig"))
                .sorted()
                .findFirst()
                .orElseThrow();
        claims.prepare(provider, claim(ONE, "", name));

        String uuid = prepared(ONE).at("/0/devices/0/mig/concrete/migUUID").asText();
        assertThat(uuid).startsWith("MIG-");
        assertThat(devices().get(name).attributes()).containsEntry("uuid", AttributeValue.of(uuid));
    }

    /** NVML no longer sees such a GPU. */
    @Test
    void aGpuThatIsLentToAVirtualMachineIsRefusedWithTheClaim() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.prepare(provider, claim(TWO, "", "gpu-1"));

        assertRefused(
                "- claim %s: its GPUs [%s] are passed through to a virtual machine (vfio), and only this driver returns them to nvidia"
                        .formatted(ONE, address0));
        assertThatThrownBy(this::exported).hasMessageNotContaining(TWO.uid());
    }

    /** The module can be unloaded then. */
    @Test
    void claimsThatHaveLentAllGpusAreRefusedWithoutNvml() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE, "", "gpu-vfio-0", "gpu-vfio-1", "gpu-vfio-2", "gpu-vfio-3"));
        hardware.loaded(false);
        assertRefused("- claim %s: its GPUs [%s, ".formatted(ONE, address0));
        assertThatThrownBy(this::exported).hasMessageNotContaining("not checked");

        hold(TWO, null, device("gpu-0"));
        assertRefused("- claim " + ONE, "- other claims were not checked: ");
    }

    @Test
    void aGpuThatAnAdministratorHasBoundIsRefusedWithTheClaim() throws Exception {
        begin();
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        hardware.loaded(false); // NVML works no more
        provider.inventory();
        claims.prepare(provider, machine(ONE));

        assertRefused("- claim %s: device gpu-vfio-0 is passed through to a virtual machine (vfio)".formatted(ONE));
    }

    @Test
    void whatOnlyThisDriverCanEndIsRefusedAllAtOnce() throws Exception {
        begin();
        SharingRecord mps = new SharingRecord("group", "MPS", List.of(gpu0), null);
        hold(ONE, new ClaimState(null, List.of(mps), null, null).toProviderState(), device("gpu-0"));
        hold(TWO, null, device("gpu-1").shareId("0b5c9d52-0000-4000-8000-000000000001"));
        ClaimRef third = new ClaimRef("default", "three", "0b5c9d52-0003");
        hold(third, null, device("gpu-9"));

        assertRefused(
                "- claim " + ONE + ": it shares devices by MPS, which only this driver can end",
                "- claim " + TWO + ": it has a share of gpu-1, whose CDI name differs in NVIDIA's driver",
                "- claim " + third + ": device gpu-9 no longer exists on this node");
    }
}
