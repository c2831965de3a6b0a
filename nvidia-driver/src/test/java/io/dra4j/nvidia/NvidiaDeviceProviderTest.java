// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.dra4j.api.Progress;
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
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Claims of boards that do not exist. */
class NvidiaDeviceProviderTest extends ProviderOnBoards {

    private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5c9d52-1111");

    private static AllocatedDevice device(String name, boolean adminAccess) {
        return new AllocatedDevice(
                "gpu",
                null,
                new PoolName("node-1"),
                new DeviceName(name),
                null,
                Map.of(),
                adminAccess,
                null,
                List.of());
    }

    private static AllocatedClaim claim(String... names) {
        return new AllocatedClaim(
                CLAIM, Stream.of(names).map(name -> device(name, false)).toList(), "{}");
    }

    private static Progress by(Consumer<ProviderState> recorder) {
        return new Progress() {
            @Override
            public void record(ProviderState state) {
                recorder.accept(state);
            }

            @Override
            public Instant deadline() {
                return Instant.MAX;
            }
        };
    }

    private static HeldClaim held(ProviderState state, Phase phase) {
        return new HeldClaim(CLAIM, phase, false, List.of(), state);
    }

    @Nested
    class Preparing {

        private final List<ProviderState> recorded = new ArrayList<>();

        @Test
        void createsMigDevices() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();

            PreparedClaim prepared =
                    provider.prepare(
                            claim("gpu-0-mig-3g40gb-9-4", "gpu-1-mig-7g80gb-0-0"),
                            by(recorded::add));

            assertThat(hardware.instances())
                    .extracting(NodeState.Instance::gpu, NodeState.Instance::profileId)
                    .containsExactly(tuple(0, 9), tuple(1, 0));
            assertThat(prepared.devices()).hasSize(2);
            provider.unprepare(held(prepared.state(), Phase.PREPARED), by(recorded::add));
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(0)).isFalse();
            assertThat(hardware.isMigEnabled(1)).isFalse();
        }

        @Test
        void createsAllOfAnA100InMigMode() {
            node = StandInNode.install(folder, "a100-40");
            hardware = node.state();
            hardware.setMig(1, true);
            NvidiaDeviceProvider provider = startAgain(true, false);
            provider.inventory();

            PreparedClaim prepared =
                    provider.prepare(claim("gpu-1-mig-7g40gb-0-0"), by(recorded::add));

            assertThat(hardware.instances()).singleElement().matches(it -> it.profileId() == 0);
            provider.unprepare(held(prepared.state(), Phase.PREPARED), by(recorded::add));
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(1)).as("its mode would need a reset").isTrue();
        }

        @Test
        void recordsAMigDeviceBeforeItsCreation() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            List<Integer> instances = new ArrayList<>();

            provider.prepare(
                    claim("gpu-0-mig-3g40gb-9-4"),
                    by(
                            state -> {
                                recorded.add(state);
                                instances.add(hardware.instances().size());
                            }));

            assertThat(instances).containsExactly(0, 0, 1);
            assertThat(recorded.get(0).json()).contains("DIVIDING").doesNotContain("MIG-");
            assertThat(recorded.get(1).json()).contains("MAKING").doesNotContain("MIG-");
            assertThat(recorded.get(2).json()).contains("MADE", "MIG-");
        }

        @Test
        void destroysNoMigDeviceOfAnotherClaim() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            PreparedClaim first =
                    provider.prepare(claim("gpu-0-mig-1g10gb-19-6"), by(recorded::add));
            provider.unprepare(held(first.state(), Phase.PREPARED), by(recorded::add));
            PreparedClaim second =
                    provider.prepare(claim("gpu-0-mig-1g10gb-19-6"), by(recorded::add));

            provider.unprepare(held(first.state(), Phase.PREPARED), by(recorded::add));

            assertThat(hardware.instances()).hasSize(1); // of the same number, and another UUID
            provider.unprepare(held(second.state(), Phase.PREPARED), by(recorded::add));
            assertThat(hardware.instances()).isEmpty();
        }

        @Test
        void destroysWhatAClaimMayHaveWhoseRecordIsLost() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            provider.prepare(claim("gpu-0-mig-1g10gb-19-6"), by(recorded::add));
            HeldDevice device = device("gpu-0-mig-1g10gb-19-6", false).held();

            provider.unprepare(
                    new HeldClaim(CLAIM, Phase.DAMAGED, false, List.of(device), null),
                    by(recorded::add));

            assertThat(hardware.instances()).isEmpty();
        }

        @Test
        void touchesNothingForAClaimOfAnEarlierBoot() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            PreparedClaim then =
                    provider.prepare(claim("gpu-0-mig-1g10gb-19-6"), by(recorded::add));

            provider.unprepare(
                    new HeldClaim(CLAIM, Phase.PREPARED, true, List.of(), then.state()),
                    by(recorded::add));

            assertThat(hardware.instances()).as("foreign").hasSize(1);
        }

        @Test
        void revertsAPendingMigMode() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            hardware.busy(0, true);

            assertThatThrownBy(
                            () ->
                                    provider.prepare(
                                            claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class);

            try (Nvml nvml = Nvml.open(node.library())) {
                assertThat(nvml.read().gpus().get(0).mig().pending()).isFalse();
            }
        }

        @Test
        void failsIfTheGpuIsInUseAsAWhole() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            hardware.busy(0, true);

            assertThatThrownBy(
                            () ->
                                    provider.prepare(
                                            claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("it is in use as a whole");
        }

        @Test
        void preparesNoWholeGpuWithInstances() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            provider.prepare(claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add));

            assertThatThrownBy(() -> provider.prepare(claim("gpu-0"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("has GPU instances [1]");
        }

        @Test
        void switchesTheModeOffThatAnEarlierTryLeftOn() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            hardware.setMig(0, true);

            provider.prepare(claim("gpu-0"), by(recorded::add));

            assertThat(hardware.isMigEnabled(0)).isFalse();
        }

        @Test
        void failsIfAGpuIsLost() {
            NvidiaDeviceProvider provider = start("l40s", false);
            provider.inventory();
            hardware.lost(1, true);

            assertThatThrownBy(() -> provider.prepare(claim("gpu-1"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("fallen off the bus");
        }

        @Test
        void failsIfTheAdministratorChangedTheMigDevices() {
            NvidiaDeviceProvider provider = start("a100-40-divided", false);
            provider.inventory();
            try (Nvml other = Nvml.open(node.library())) {
                String gpu = hardware.uuid(1);
                other.destroyCompute(gpu, 4, 0);
                other.destroyInstance(gpu, 4);
            }

            assertThatThrownBy(
                            () ->
                                    provider.prepare(
                                            claim("gpu-1-mig-3g20gb-9-4"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("the GPU's MIG devices were changed");
        }

        @Test
        void givesAdminAccessToExistingMigDevices() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            AllocatedClaim admin =
                    new AllocatedClaim(CLAIM, List.of(device("gpu-0-mig-3g40gb-9-4", true)), "{}");

            assertThatThrownBy(() -> provider.prepare(admin, by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("no claim has created it");
            provider.prepare(claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add));
            PreparedClaim prepared = provider.prepare(admin, by(recorded::add));

            assertThat(prepared.state()).isNull();
            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void refusesAStateOfANewerDriver() {
            NvidiaDeviceProvider provider = start("h100-80", true);

            assertThatThrownBy(
                            () ->
                                    provider.unprepare(
                                            held(new ProviderState(9, "{}"), Phase.PREPARED),
                                            by(recorded::add)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("a newer driver prepared it");
        }
    }

    @Nested
    class ForeignInstances {

        private void divide() {
            try (Nvml other = Nvml.open(node.library())) {
                String gpu = other.read().gpus().get(5).uuid();
                other.switchMig(gpu, true);
                int instance = other.createInstance(gpu, 9, new Placement(4, 4));
                other.createCompute(gpu, instance);
            }
        }

        @Test
        void stayAndBlockOnlyTheirSlices() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            divide();

            NvidiaDeviceProvider next = startAgain(true, false);
            next.inventory();

            assertThat(hardware.instances()).hasSize(1);
            assertThatThrownBy(() -> next.prepare(claim("gpu-5-mig-7g80gb-0-0"), by(state -> {})))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("GPU instance 1 of");
            next.prepare(claim("gpu-5-mig-3g40gb-9-0"), by(state -> {}));
        }

        @Test
        void areDestroyedIfConfigured() throws Exception {
            start("h100-80", true);
            divide();
            context = new RecordedContext(List.of());

            startAgain(true, true);
            context.awaitChange(); // which comes after

            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(5)).isFalse();
        }

        @Test
        void areNotWhatAClaimHas() throws Exception {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            PreparedClaim prepared =
                    provider.prepare(claim("gpu-0-mig-3g40gb-9-4"), by(state -> {}));
            context = new RecordedContext(List.of(held(prepared.state(), Phase.PREPARED)));

            startAgain(true, true);
            context.awaitChange();

            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void stayWhileAClaimsRecordIsDamaged() throws Exception {
            start("h100-80", true);
            divide();
            context = new RecordedContext(List.of(held(null, Phase.DAMAGED)));

            startAgain(true, true);
            context.awaitChange();

            assertThat(hardware.instances()).hasSize(1);
        }
    }
}
