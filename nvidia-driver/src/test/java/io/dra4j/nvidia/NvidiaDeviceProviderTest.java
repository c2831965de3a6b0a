// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.Assertions.tuple;

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
import io.dra4j.nvidia.nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims of boards that do not exist. */
class NvidiaDeviceProviderTest extends ProviderOnBoards {

    private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5c9d52-1111");

    private static final int THREE_SLICES = 9; // the hardware's numbers of profiles
    private static final int COMPUTE_OF_THREE = 2;
    private static final int NO_ROOM = 23;
    private static final int MOST_LOOKS = 200;

    private NvidiaDeviceProvider provider;

    private void install(String boards, boolean dynamicMig) {
        provider = start(boards, dynamicMig);
        provider.inventory();
    }

    private static AllocatedDevice device(String name, boolean adminAccess) {
        return AllocatedDevice.builder("gpu", new PoolName("node-1"), new DeviceName(name))
                .adminAccess(adminAccess)
                .build();
    }

    private static AllocatedClaim claim(AllocatedDevice... devices) {
        return AllocatedClaim.builder(CLAIM).devices(List.of(devices)).build();
    }

    private static AllocatedClaim claim(String... names) {
        return claim(Stream.of(names).map(name -> device(name, false)).toArray(AllocatedDevice[]::new));
    }

    private PreparedClaim prepare(String... names) {
        return provider.prepare(claim(names), by(state -> {}));
    }

    private void refuses(AllocatedClaim claim, String words) {
        assertThatThrownBy(() -> provider.prepare(claim, by(state -> {})))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining(words);
    }

    private static HeldClaim held(ProviderState state, Phase phase) {
        return HeldClaim.builder(CLAIM).phase(phase).state(state).build();
    }

    private void unprepare(HeldClaim claim) {
        provider.unprepare(claim, by(state -> {}));
    }

    private void unprepare(PreparedClaim claim) {
        unprepare(held(claim.state(), Phase.PREPARED));
    }

    @Nested
    class OnDemand {

        @BeforeEach
        void installH100s() {
            install("h100-80", true);
        }

        @ParameterizedTest
        @ValueSource(strings = {"nvidia1", "nvidia-uvm", "nvidia-uvm-tools"})
        void createsNothingWithoutADeviceNode(String name) throws IOException {
            Path dev = node.root().resolve("dev");
            Files.delete(dev.resolve(name));
            AllocatedClaim both = claim("gpu-0-mig-3g40gb-9-4", "gpu-1-mig-7g80gb-0-0");

            assertThatThrownBy(() -> provider.prepare(both, by(state -> fail("recorded " + state))))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("Device node ");
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(0)).isFalse();
        }

        @Test
        void createsNothingWithoutCapabilitiesOfTheKernel() throws IOException {
            Files.writeString(node.proc().resolve("devices"), "Character devices:\n195 nvidia\n");

            refuses(claim("gpu-0-mig-3g40gb-9-4"), "nvidia-caps");
            assertThat(hardware.instances()).isEmpty();
        }

        @Test
        void createsMigDevices() {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4", "gpu-1-mig-7g80gb-0-0");

            assertThat(hardware.instances())
                    .extracting(NodeState.Instance::gpu, NodeState.Instance::profileId)
                    .containsExactly(tuple(0, 9), tuple(1, 0));
            assertThat(prepared.devices())
                    .extracting(device -> device.status().data())
                    .containsExactly(data(0), data(1));
            assertThat(prepare("gpu-2").devices().get(0).status()).isNull();
            unprepare(prepared);
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(0)).isFalse();
            assertThat(hardware.isMigEnabled(1)).isFalse();
        }

        private String data(int instance) {
            NodeState.Instance made = hardware.instances().get(instance);
            return "{\"uuid\":\"%s\",\"parentUUID\":\"%s\"}"
                    .formatted(made.uuids().get(0), hardware.uuid(made.gpu()));
        }

        @Test
        void recordsAMigDeviceBeforeItsCreation() {
            List<String> recorded = new ArrayList<>();
            List<Integer> instances = new ArrayList<>();

            provider.prepare(claim("gpu-0-mig-3g40gb-9-4"), by(state -> {
                recorded.add(state.rawJson());
                instances.add(hardware.instances().size());
            }));

            assertThat(instances).containsExactly(0, 0, 1);
            assertThat(recorded.get(0)).contains("DIVIDING").doesNotContain("MIG-");
            assertThat(recorded.get(1)).contains("MAKING").doesNotContain("MIG-");
            assertThat(recorded.get(2)).contains("MADE", "MIG-");
        }

        @Test
        void destroysNoMigDeviceOfAnotherClaim() {
            PreparedClaim first = prepare("gpu-0-mig-1g10gb-19-6");
            unprepare(first);
            PreparedClaim second = prepare("gpu-0-mig-1g10gb-19-6");

            unprepare(first);

            assertThat(hardware.instances()).hasSize(1); // of the same number, and another UUID
            unprepare(second);
            assertThat(hardware.instances()).isEmpty();
        }

        /** Destroys the instance of the test's claim, and creates it again. */
        private void createAgain() {
            NodeState.Instance ours = hardware.instanceAt(0, 4);
            node.administrator().destroyInstance(0, ours.id());
            node.administrator().createInstance(0, THREE_SLICES, 4, COMPUTE_OF_THREE);
            assertThat(hardware.instanceAt(0, 4))
                    .as("number, place and UUID are the same")
                    .isEqualTo(ours);
        }

        @Test
        void leavesAnInstanceThatTheAdministratorHasCreatedAgain() {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4");
            context.held().add(held(prepared.state(), Phase.PREPARED));
            createAgain();

            unprepare(prepared);

            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void destroysItsInstanceAfterARestart() {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4");
            provider.close();
            provider = startAgain(true, false);
            provider.inventory();

            unprepare(prepared);

            assertThat(hardware.instances()).isEmpty();
        }

        @Test
        void leavesAnInstanceOfALaterLoadOfTheModule() throws Exception {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4");
            provider.close();
            assertThat(node.unload()).isZero();
            node.load(StandInNode.VERSION);
            hardware.setMig(0, true);
            node.administrator().createInstance(0, THREE_SLICES, 4, COMPUTE_OF_THREE);
            provider = startAgain(true, false);
            provider.inventory();

            unprepare(prepared);

            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void leavesAnInstanceInThePlaceOfOneThatCouldNotBeCreated() {
            List<HeldClaim> recorded = context.held(); // what a claim that is held needs is not put back
            String creation = "nvmlDeviceCreateGpuInstanceWithPlacement";
            hardware.fails(creation, 0, NO_ROOM, 1);
            assertThatThrownBy(() -> provider.prepare(
                            claim("gpu-0-mig-3g40gb-9-4"), by(state -> recorded.add(held(state, Phase.PREPARING)))))
                    .hasMessageContaining(creation);
            node.administrator().createInstance(0, THREE_SLICES, 4, COMPUTE_OF_THREE);

            unprepare(recorded.get(recorded.size() - 1));

            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void switchesTheModeOffLaterIfItFailsAfterAnUnprepare() throws Exception {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4");
            hardware.fails("nvmlDeviceSetMigMode", 999);

            unprepare(prepared);

            assertThat(hardware.isMigEnabled(0)).isTrue();
            hardware.noneFails();
            for (int look = 0; look < MOST_LOOKS && hardware.isMigEnabled(0); look++) {
                context.awaitChange();
            }
            assertThat(hardware.isMigEnabled(0)).isFalse();
        }

        @Test
        void noticesErrorsAfterASwitchOfTheMode() throws Exception {
            hardware.modeEndsEvents(true);
            hardware.recovery(0, 1);
            prepare("gpu-0-mig-3g40gb-9-4");

            for (int look = 0; look < MOST_LOOKS && !isTainted("gpu-0"); look++) {
                hardware.xid(0, -1, 79); // the first may come before the new registration
                context.awaitChange();
            }

            assertThat(isTainted("gpu-0")).isTrue();
        }

        private boolean isTainted(String device) {
            return provider.inventory()
                    .device(new PoolName("node-1"), new DeviceName(device))
                    .filter(found -> !found.taints().isEmpty())
                    .isPresent();
        }

        @Test
        void destroysWhatAClaimMayHaveWhoseRecordIsLost() {
            prepare("gpu-0-mig-1g10gb-19-6");
            HeldDevice device = device("gpu-0-mig-1g10gb-19-6", false).held();

            unprepare(HeldClaim.builder(CLAIM)
                    .phase(Phase.DAMAGED)
                    .devices(List.of(device))
                    .build());

            assertThat(hardware.instances()).isEmpty();
        }

        @Test
        void touchesNothingForAClaimOfAnEarlierBoot() {
            PreparedClaim then = prepare("gpu-0-mig-1g10gb-19-6");

            unprepare(HeldClaim.builder(CLAIM)
                    .beforeReboot(true)
                    .state(then.state())
                    .build());

            assertThat(hardware.instances()).as("foreign").hasSize(1);
        }

        @Test
        void failsIfTheGpuIsInUseAsAWholeAndRevertsThePendingMigMode() {
            hardware.busy(0, true);

            refuses(claim("gpu-0-mig-3g40gb-9-4"), "it is in use as a whole");

            try (Nvml nvml = Nvml.open(node.library())) {
                assertThat(nvml.read().gpus().get(0).mig().pending()).isFalse();
            }
        }

        @Test
        void preparesNoWholeGpuWithInstances() {
            prepare("gpu-0-mig-3g40gb-9-4");

            refuses(claim("gpu-0"), "has GPU instances [1]");
        }

        @Test
        void switchesTheModeOffThatAnEarlierTryLeftOn() {
            hardware.setMig(0, true);
            HeldDevice whole = device("gpu-0", false).held();
            context.held().add(HeldClaim.builder(CLAIM).device(whole).build());

            prepare("gpu-0");

            assertThat(hardware.isMigEnabled(0)).isFalse();
        }

        @Test
        void givesAdminAccessToExistingMigDevices() {
            AllocatedClaim admin = claim(device("gpu-0-mig-3g40gb-9-4", true));

            refuses(admin, "no claim has created it");
            prepare("gpu-0-mig-3g40gb-9-4");
            PreparedClaim prepared = provider.prepare(admin, by(state -> {}));

            assertThat(prepared.state()).isNull();
            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void refusesAStateOfANewerDriver() {
            assertThatThrownBy(() -> unprepare(held(new ProviderState(9, "{}"), Phase.PREPARED)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("a newer driver prepared the claim");
        }
    }

    @Nested
    class OnOtherBoards {

        @Test
        void createsAllOfAnA100InMigMode() {
            node = StandInNode.install(folder, "a100-40");
            hardware = node.state();
            hardware.setMig(1, true);
            provider = startAgain(true, false);
            provider.inventory();

            PreparedClaim prepared = prepare("gpu-1-mig-7g40gb-0-0");

            assertThat(hardware.instances()).singleElement().matches(it -> it.profileId() == 0);
            unprepare(prepared);
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(1))
                    .as("its mode would need a reset")
                    .isTrue();
        }

        @Test
        void failsIfAGpuIsLost() {
            install("l40s", false);
            hardware.lost(1, true);

            refuses(claim("gpu-1"), "fallen off the bus");
        }

        @Test
        void hasTheLibrariesOfTheVersionThatIsInstalledNow() throws Exception {
            install("l40s", false);
            node.update("560.35.03");
            hardware.replaced("560.35.03");

            PreparedClaim prepared = prepare("gpu-1");

            assertThat(prepared.edits().mounts())
                    .extracting(mount -> mount.hostPath().toString())
                    .anyMatch(path -> path.endsWith("libcuda.so.560.35.03"));
        }

        @Test
        void failsIfTheAdministratorChangedTheMigDevices() {
            install("a100-40-divided", false);
            node.administrator().destroyInstance(1, hardware.instanceAt(1, 4).id());

            refuses(claim("gpu-1-mig-3g20gb-9-4"), "the GPU's MIG devices were changed");
        }
    }

    @Nested
    class ForeignInstances {

        @BeforeEach
        void installH100s() {
            install("h100-80", true);
        }

        private void divide() {
            try (Nvml other = Nvml.open(node.library())) {
                String gpu = hardware.uuid(5);
                other.switchMig(gpu, true);
                CreatedInstance instance = other.createInstance(gpu, 9, new Placement(4, 4));
                other.createCompute(gpu, instance);
            }
        }

        /** Starts the next provider, which destroys unknown instances, and waits until it has. */
        private void startNext(HeldClaim... held) throws InterruptedException {
            context = new RecordedContext(List.of(held));
            startAgain(true, true);
            context.awaitChange(); // which comes after
        }

        @Test
        void stayAndBlockOnlyTheirSlices() {
            divide();

            provider = startAgain(true, false);
            provider.inventory();

            assertThat(hardware.instances()).hasSize(1);
            refuses(claim("gpu-5-mig-7g80gb-0-0"), "GPU instance 1 of");
            prepare("gpu-5-mig-3g40gb-9-0");
        }

        @Test
        void areDestroyedIfConfigured() throws Exception {
            divide();

            startNext();

            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isMigEnabled(5)).isFalse();
        }

        @Test
        void areNotWhatAClaimHas() throws Exception {
            PreparedClaim prepared = prepare("gpu-0-mig-3g40gb-9-4");

            startNext(held(prepared.state(), Phase.PREPARED));

            assertThat(hardware.instances()).hasSize(1);
        }

        @Test
        void stayWhileAClaimsRecordIsDamaged() throws Exception {
            divide();

            startNext(held(null, Phase.DAMAGED));

            assertThat(hardware.instances()).hasSize(1);
        }
    }
}
