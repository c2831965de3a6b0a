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
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.health.NodeMemory;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The provider on boards that do not exist. */
class NvidiaDeviceProviderTest {

    private static final Taint LOST =
            Taint.of("gpu.nvidia.com/gpu-lost", null, Taint.Effect.NO_SCHEDULE);

    private static final int MOST_LOOKS = 200;

    @TempDir private Path folder;

    private final List<NvidiaDeviceProvider> started = new ArrayList<>();
    private StandInNode node;
    private NodeState hardware;
    private RecordedContext context = new RecordedContext(List.of());

    private NvidiaDeviceProvider start(String boards, boolean dynamicMig) {
        node = StandInNode.install(folder, boards);
        hardware = node.state();
        return startAgain(dynamicMig, false);
    }

    private NvidiaDeviceProvider startAgain(boolean dynamicMig, boolean destroyUnknown) {
        NvidiaDeviceProvider provider =
                new NvidiaDeviceProvider(
                        Nvml.open(node.library()),
                        new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig),
                        new Edits(node.roots(), node.hook()),
                        new NvidiaDeviceProvider.Care(
                                List.of(94L),
                                destroyUnknown,
                                Duration.ofMillis(100),
                                new NodeMemory(folder.resolve("gpus.json"), node.proc())));
        provider.start(context);
        started.add(provider);
        return provider;
    }

    @AfterEach
    void stop() {
        started.forEach(NvidiaDeviceProvider::close);
    }

    private static Map<String, List<Taint>> taints(NvidiaDeviceProvider provider) {
        Map<String, List<Taint>> taints = new TreeMap<>();
        for (Device device : provider.inventory().pools().get(0).devices()) {
            if (!device.taints().isEmpty()) {
                taints.put(device.name().value(), List.copyOf(device.taints()));
            }
        }
        return taints;
    }

    private Map<String, List<Taint>> taintsOnceThereAre(NvidiaDeviceProvider provider, boolean any)
            throws InterruptedException {
        Map<String, List<Taint>> taints = taints(provider);
        for (int look = 0; look < MOST_LOOKS && taints.isEmpty() == any; look++) {
            context.awaitChange();
            taints = taints(provider);
        }
        return taints;
    }

    private static Taint xid(long number) {
        return Taint.of("gpu.nvidia.com/xid", Long.toString(number), Taint.Effect.NO_SCHEDULE);
    }

    @Nested
    class Health {

        @Test
        void aLostGpuTaintsItselfAlone() throws Exception {
            NvidiaDeviceProvider provider = start("l40s", false);
            assertThat(taints(provider)).isEmpty();

            hardware.lost(2, true);

            assertThat(taintsOnceThereAre(provider, true))
                    .isEqualTo(Map.of("gpu-2", List.of(LOST)));
            assertThat(context.health.get("gpu-2").state()).isEqualTo(HealthState.UNHEALTHY);
            assertThat(context.health.get("gpu-2").message()).contains("fallen off the bus");
            assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.HEALTHY);
            hardware.lost(2, false);
            assertThat(taintsOnceThereAre(provider, false)).isEmpty();
        }

        @Test
        void anErrorTaintsAllThatTheGpuCanBeDividedInto() throws Exception {
            NvidiaDeviceProvider provider = start("mixed", true);

            hardware.recovery(0, 1);
            hardware.xid(0, -1, 79);

            Map<String, List<Taint>> taints = taintsOnceThereAre(provider, true);
            assertThat(taints).hasSize(26).containsEntry("gpu-0", List.of(xid(79)));
            assertThat(taints.keySet()).allMatch(name -> name.startsWith("gpu-0"));
        }

        @Test
        void anErrorOfAnInstanceTaintsWhatIsWhereItIs() throws Exception {
            NvidiaDeviceProvider provider = start("a100-40-divided", false);
            hardware.recovery(1, 1);

            hardware.xid(1, 4, 95); // the fourth instance, which is the one of three slices

            assertThat(taintsOnceThereAre(provider, true))
                    .isEqualTo(Map.of("gpu-1-mig-3g20gb-9-4", List.of(xid(95))));
        }

        @Test
        void aLostGpuThatFailedBeforeHidesNoOther() throws Exception {
            NvidiaDeviceProvider provider = start("l40s", false);
            hardware.recovery(0, 1);
            hardware.recovery(3, 1);
            hardware.xid(0, -1, 79);
            hardware.xid(3, -1, 48);
            for (int look = 0; look < MOST_LOOKS && taints(provider).size() < 2; look++) {
                context.awaitChange();
            }
            hardware.lost(0, true);

            hardware.recovery(3, 0);

            for (int look = 0; look < MOST_LOOKS && taints(provider).size() > 1; look++) {
                context.awaitChange();
            }
            assertThat(taints(provider)).isEqualTo(Map.of("gpu-0", List.of(LOST, xid(79))));
        }

        @Test
        void errorsOfApplicationsTaintNothing() throws Exception {
            NvidiaDeviceProvider provider = start("l40s", false);
            hardware.recovery(3, 1);

            hardware.xid(0, -1, 13);
            hardware.xid(1, -1, 94); // to be ignored by the settings
            hardware.xid(3, -1, 48);

            assertThat(taintsOnceThereAre(provider, true))
                    .isEqualTo(Map.of("gpu-3", List.of(xid(48))));
        }

        @Test
        void aTaintGoesWhenTheGpuSaysThatItWorks() throws Exception {
            NvidiaDeviceProvider provider = start("l40s", false);
            hardware.recovery(3, 1);
            hardware.xid(3, -1, 48);
            taintsOnceThereAre(provider, true);

            hardware.recovery(3, 0);

            assertThat(taintsOnceThereAre(provider, false)).isEmpty();
        }

        @Test
        void isRememberedOverARestartAndForgottenAfterAReboot() throws Exception {
            NvidiaDeviceProvider first = start("l40s", false);
            hardware.recovery(3, 1);
            hardware.xid(3, -1, 48);
            taintsOnceThereAre(first, true);
            hardware.lost(1, true);
            for (int look = 0; look < MOST_LOOKS && taints(first).size() < 2; look++) {
                context.awaitChange();
            }
            stop();
            started.clear();

            Map<String, List<Taint>> then = taints(startAgain(false, false));

            assertThat(then).isEqualTo(Map.of("gpu-1", List.of(LOST), "gpu-3", List.of(xid(48))));
            stop();
            started.clear();
            hardware.lost(1, false);
            Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another\n");
            assertThat(taints(startAgain(false, false))).isEmpty();
        }
    }

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
        void makesTheParts() {
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
            assertThat(hardware.isDivided(0)).isFalse();
            assertThat(hardware.isDivided(1)).isFalse();
        }

        @Test
        void makesAllOfAnA100ThatIsDivided() {
            node = StandInNode.install(folder, "a100-40");
            hardware = node.state();
            hardware.divided(1, true);
            NvidiaDeviceProvider provider = startAgain(true, false);
            provider.inventory();

            PreparedClaim prepared =
                    provider.prepare(claim("gpu-1-mig-7g40gb-0-0"), by(recorded::add));

            assertThat(hardware.instances()).singleElement().matches(it -> it.profileId() == 0);
            provider.unprepare(held(prepared.state(), Phase.PREPARED), by(recorded::add));
            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isDivided(1)).as("its mode would need a reset").isTrue();
        }

        @Test
        void recordsAPartBeforeItMakesIt() {
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
        void destroysNoPartOfAnotherClaim() {
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

            assertThat(hardware.instances()).as("whoever made it").hasSize(1);
        }

        @Test
        void takesBackThatAGpuShouldBeDividedWithTheNextReset() {
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
        void saysThatSomebodyUsesTheGpuAsAWhole() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            hardware.busy(0, true);

            assertThatThrownBy(
                            () ->
                                    provider.prepare(
                                            claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("somebody uses it as a whole");
        }

        @Test
        void givesNoWholeGpuThatIsDivided() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            provider.prepare(claim("gpu-0-mig-3g40gb-9-4"), by(recorded::add));

            assertThatThrownBy(() -> provider.prepare(claim("gpu-0"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("is divided into GPU instances [1]");
        }

        @Test
        void switchesTheModeOffThatAnEarlierTryLeftOn() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            hardware.divided(0, true);

            provider.prepare(claim("gpu-0"), by(recorded::add));

            assertThat(hardware.isDivided(0)).isFalse();
        }

        @Test
        void saysThatAGpuIsLost() {
            NvidiaDeviceProvider provider = start("l40s", false);
            provider.inventory();
            hardware.lost(1, true);

            assertThatThrownBy(() -> provider.prepare(claim("gpu-1"), by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("fallen off the bus");
        }

        @Test
        void seesThatTheAdministratorDividedTheGpuAnew() {
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
                    .hasMessageContaining("its GPU was divided anew");
        }

        @Test
        void letsAnAdministratorLookAtAPartThatIsThere() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            AllocatedClaim admin =
                    new AllocatedClaim(CLAIM, List.of(device("gpu-0-mig-3g40gb-9-4", true)), "{}");

            assertThatThrownBy(() -> provider.prepare(admin, by(recorded::add)))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("no claim has made it");
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
    class Strangers {

        private void divide() {
            try (Nvml other = Nvml.open(node.library())) {
                String gpu = other.read().gpus().get(5).uuid();
                other.switchMig(gpu, true);
                int instance = other.createInstance(gpu, 9, new Placement(4, 4));
                other.createCompute(gpu, instance);
            }
        }

        @Test
        void stayAndAreInNobodysWay() {
            NvidiaDeviceProvider provider = start("h100-80", true);
            provider.inventory();
            divide();

            NvidiaDeviceProvider next = startAgain(true, false);
            next.inventory();

            assertThat(hardware.instances()).hasSize(1);
            assertThatThrownBy(() -> next.prepare(claim("gpu-5-mig-7g80gb-0-0"), by(state -> {})))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("There is GPU instance 1");
            next.prepare(claim("gpu-5-mig-3g40gb-9-0"), by(state -> {}));
        }

        @Test
        void areDestroyedIfSomebodySaysSo() throws Exception {
            start("h100-80", true);
            divide();
            context = new RecordedContext(List.of());

            startAgain(true, true);
            context.awaitChange(); // which comes after

            assertThat(hardware.instances()).isEmpty();
            assertThat(hardware.isDivided(5)).isFalse();
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
