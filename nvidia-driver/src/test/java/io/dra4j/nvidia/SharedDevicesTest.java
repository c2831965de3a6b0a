// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.runtime.ClaimPreview;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims that have shares of one device. */
class SharedDevicesTest extends ProviderOnBoards {

    private static final String MIG = "gpu-0-mig-3g40gb-9-4";
    private static final ClaimRef FIRST = new ClaimRef("default", "first", "uid-1");
    private static final ClaimRef SECOND = new ClaimRef("default", "second", "uid-2");

    private final List<HeldClaim> held = new CopyOnWriteArrayList<>();
    private NvidiaDeviceProvider provider;

    @BeforeEach
    void install() {
        shares = Shares.parse("unlimited");
        context = new RecordedContext(held);
        provider = start("h100-80", true);
        provider.inventory();
    }

    private static HeldDevice share(String device, ClaimRef claim, String memory) {
        return HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName(device))
                .shareId("00000000-0000-4000-8000-00000000000" + claim.uid().charAt(4))
                .consumedCapacity(Map.of("memory", new Quantity(memory)))
                .build();
    }

    private void hold(ClaimRef claim, ProviderState state, Phase phase) {
        held.removeIf(other -> other.ref().equals(claim));
        if (state != null) {
            held.add(HeldClaim.builder(claim).phase(phase).state(state).build());
        }
    }

    private ClaimContext recording(ClaimRef claim, Phase phase, Consumer<ProviderState> step) {
        return by(state -> {
            hold(claim, state, phase);
            step.accept(state);
        });
    }

    private PreparedClaim prepare(ClaimRef claim, String device, String memory) {
        PreparedClaim prepared = provider.prepare(
                AllocatedClaim.builder(claim)
                        .devices(List.of(AllocatedDevice.builder(share(device, claim, memory))
                                .build()))
                        .build(),
                recording(claim, Phase.PREPARING, state -> {}));
        hold(claim, prepared.state(), Phase.PREPARED);
        return prepared;
    }

    private void unprepare(ClaimRef claim, Consumer<ProviderState> step) {
        ProviderState state = held.stream()
                .filter(it -> it.ref().equals(claim))
                .map(HeldClaim::state)
                .findFirst()
                .orElse(null);
        provider.unprepare(
                HeldClaim.builder(claim).phase(Phase.UNPREPARING).state(state).build(),
                recording(claim, Phase.UNPREPARING, step));
        hold(claim, null, Phase.UNPREPARING);
    }

    private static Map<String, String> env(PreparedClaim prepared) {
        return prepared.devices().get(0).edits().env();
    }

    @Test
    void areToldTheirMemory() {
        assertThat(env(prepare(FIRST, "gpu-1", "10Gi"))).containsEntry("NVIDIA_SHARE_MEMORY_GPU_1", "10737418240");
        assertThat(env(prepare(SECOND, "gpu-1", "0")))
                .as("none was requested")
                .doesNotContainKey("NVIDIA_SHARE_MEMORY_GPU_1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "gpu.nvidia.com/memory"})
    void areToldTheirMemoryInBothFormsOfItsName(String capacity) throws Exception {
        String claim = """
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"uid": "uid-1"},
                 "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
                 "status": {"allocation": {"devices": {"results": [
                   {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "node-1", "device": "gpu-1",
                    "shareID": "00000000-0000-4000-8000-000000000001", "consumedCapacity": {"%s": "4Gi"}}]}}}}
                """.formatted(capacity);
        AllocatedClaim allocated = ClaimPreview.of("gpu.nvidia.com", provider).allocated(claim);

        PreparedClaim prepared = provider.prepare(allocated, recording(FIRST, Phase.PREPARING, state -> {}));

        assertThat(env(prepared)).containsEntry("NVIDIA_SHARE_MEMORY_GPU_1", "4294967296");
    }

    @Test
    void haveOneMigDeviceThatGoesWithTheLast() {
        PreparedClaim first = prepare(FIRST, MIG, "1Gi");
        PreparedClaim second = prepare(SECOND, MIG, "1Gi");

        assertThat(hardware.instances()).hasSize(1);
        assertThat(second.devices().get(0).edits().deviceNodes())
                .isEqualTo(first.devices().get(0).edits().deviceNodes());
        unprepare(FIRST, state -> {});
        assertThat(hardware.instances()).as("the second has it still").hasSize(1);
        unprepare(SECOND, state -> {});
        assertThat(hardware.instances()).isEmpty();
        assertThat(hardware.isMigEnabled(0)).isFalse();
    }

    @Test
    void haveOneMigDeviceAfterARestart() {
        prepare(FIRST, MIG, "1Gi");
        prepare(SECOND, MIG, "1Gi");
        provider.close();
        provider = startAgain(true, true);
        provider.inventory();

        unprepare(SECOND, state -> {});
        assertThat(hardware.instances()).hasSize(1);
        unprepare(FIRST, state -> {});
        assertThat(hardware.instances()).isEmpty();
    }

    /** Whichever of the two dies between two records, the other's unprepare destroys nothing. */
    @Test
    void leaveTheMigDeviceToTheOthersIfAnUnprepareEndsHalfway() {
        prepare(FIRST, MIG, "1Gi");
        prepare(SECOND, MIG, "1Gi");

        assertThatThrownBy(() -> unprepare(FIRST, state -> {
                    throw new DraException("the process dies");
                }))
                .hasMessageContaining("dies");
        assertThat(hardware.instances()).hasSize(1);

        unprepare(FIRST, state -> {});
        unprepare(SECOND, state -> {});
        assertThat(hardware.instances()).isEmpty();
    }

    @Test
    void areRefusedAMigDeviceThatIsBeingDestroyed() {
        prepare(FIRST, MIG, "1Gi");
        hardware.instances(); // it exists
        HeldClaim half = held.get(0);
        hold(
                FIRST,
                new ProviderState(half.state().version(), half.state().rawJson().replace("\"MADE\"", "\"DESTROYING\"")),
                Phase.UNPREPARING);

        assertThatThrownBy(() -> prepare(SECOND, MIG, "1Gi")).hasMessageContaining("is not destroyed yet");
    }
}
