// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.state.GpuFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs whose MIG mode can't follow the claims. */
class MigModesTest extends ProviderOnBoards {

    private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5c9d52-1111");
    private static final ClaimRef OTHER = new ClaimRef("default", "other", "0b5c9d52-2222");
    private static final String MIG = "gpu-0-mig-3g40gb-9-4";
    private static final int RESET_REQUIRED = 16;
    private static final Duration SOON = Duration.ofSeconds(30);

    private final List<HeldClaim> held = new CopyOnWriteArrayList<>();
    private NvidiaDeviceProvider provider;

    private PreparedClaim prepare(String device) {
        return prepare(device, state -> {});
    }

    private PreparedClaim prepare(String device, Consumer<ProviderState> recorder) {
        AllocatedDevice allocated = AllocatedDevice.builder("gpu", new PoolName("node-1"), new DeviceName(device))
                .build();
        return provider.prepare(AllocatedClaim.builder(CLAIM).device(allocated).build(), by(recorder));
    }

    private void record(ProviderState state) {
        held.add(HeldClaim.builder(CLAIM).state(state).build());
    }

    private void unprepare(PreparedClaim claim) {
        unprepare(HeldClaim.builder(CLAIM).state(claim.state()).build());
    }

    private void unprepare(HeldClaim claim) {
        provider.unprepare(claim, by(state -> {}));
    }

    private static HeldClaim held(ClaimRef ref, String device) {
        HeldDevice one = HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName(device))
                .build();
        return HeldClaim.builder(ref).devices(List.of(one)).build();
    }

    private void hold(String device) {
        held.add(held(CLAIM, device).toBuilder().state(prepare(device).state()).build());
    }

    private void begin(boolean isOn) {
        context = new RecordedContext(held);
        provider = start("h100-80", true);
        hardware.setMig(0, isOn);
        offered();
    }

    private void awaitReadings() throws InterruptedException {
        context.forgetChanges();
        for (int reading = 0; reading < 3; reading++) {
            context.awaitChange();
        }
    }

    private List<String> offered() {
        return provider.inventory().pools().get(0).devices().stream()
                .map(device -> device.name().value())
                .filter(name -> name.matches("gpu-0(-.*)?"))
                .toList();
    }

    private void restart() {
        provider.close();
        provider = startAgain(true, false);
    }

    /** Also if that fails at first and the driver ends: the next one does it. */
    @ParameterizedTest
    @CsvSource({
        "false, " + MIG + ", false",
        "false, " + MIG + ", true",
        "true, " + MIG + ", false",
        "true, gpu-0, false",
        "true, gpu-0, true",
        "false, gpu-0, false"
    })
    void areAfterAClaimWhatTheyWereBefore(boolean isOn, String device, boolean fails) throws Exception {
        begin(isOn);
        hold(device);
        restart();
        awaitReadings();
        assertThat(hardware.isMigEnabled(0)).isEqualTo(device.equals(MIG));
        if (fails) {
            hardware.fails("nvmlDeviceSetMigMode", 999);
        }

        unprepare(held.get(0));
        held.clear();

        if (fails) {
            assertThat(hardware.isMigEnabled(0)).isEqualTo(device.equals(MIG));
            restart();
            hardware.noneFails();
            Await.until("the mode before", SOON, () -> hardware.isMigEnabled(0) == isOn);
        }
        assertThat(hardware.isMigEnabled(0)).isEqualTo(isOn);
        Await.until("nothing written down", SOON, () -> files().isEmpty());
    }

    /** Its instance may be destroyed by hand, or not created yet, by the other process of a rolling update. */
    @Test
    void stayAsLongAsAClaimHasAMigDevice() throws Exception {
        begin(false);
        hold(MIG);
        nvml.instances(hardware.uuid(0)).forEach(one -> nvml.destroy(hardware.uuid(0), one));

        awaitReadings();

        assertThat(hardware.isMigEnabled(0)).isTrue();
        hardware.slow(0, 6_000);
        assertTimeout(Duration.ofSeconds(3), () -> unprepare(held(OTHER, "gpu-1")));
        hardware.slow(0, 0);
        unprepare(held.remove(0));
        Await.until("the mode before", SOON, () -> !hardware.isMigEnabled(0));
    }

    @Test
    void areWhatTheyWereAfterTheLastClaimOnceNoOtherProcessChangesTheGpu() throws Exception {
        begin(true);
        hold("gpu-0");
        held.add(held(OTHER, "gpu-0"));
        unprepare(held.get(0));
        held.remove(0);
        awaitReadings();
        assertThat(hardware.isMigEnabled(0)).isFalse();
        NodeLock ofOther = context.lock("mig-" + hardware.uuid(0).toLowerCase(Locale.ROOT), Duration.ZERO);

        unprepare(held.remove(0));

        awaitReadings();
        assertThat(hardware.isMigEnabled(0)).isFalse();
        ofOther.close();
        Await.until("the mode before", SOON, () -> hardware.isMigEnabled(0));
    }

    private List<String> files() {
        return new GpuFiles(folder.resolve("mig-modes"), nvml::moduleLoad).gpus();
    }

    /** As a claim of an earlier version, which wrote nothing down and switched the mode off. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void areOffAfterAClaimWhoseModeIsNotWrittenDown(boolean fails) {
        begin(false);
        if (fails) {
            hardware.fails("nvmlDeviceCreateGpuInstanceWithPlacement", 999);
            assertThatThrownBy(() -> prepare(MIG, this::record)).hasMessageContaining("999");
            hardware.noneFails();
            hardware.fails("nvmlDeviceGetMigMode", 999);
        } else {
            prepare(MIG, this::record);
        }
        files().forEach(gpu -> new GpuFiles(folder.resolve("mig-modes"), nvml::moduleLoad).delete(gpu));

        unprepare(held.get(held.size() - 1));

        assertThat(hardware.isMigEnabled(0)).isEqualTo(fails);
        hardware.noneFails();
        held.clear();
        Await.until("the mode before", SOON, () -> !hardware.isMigEnabled(0));
    }

    /** NVML says so with success, or instead. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void areOfferedInItOnceASwitchHasProvedToNeedAReset(boolean instead) throws IOException {
        provider = start("h100-80", true);
        offered();
        hardware.set(0, "modeNeedsReset", instead ? 0 : 1);
        hardware.fails("nvmlDeviceSetMigMode", 0, RESET_REQUIRED, instead ? 1 : 0);
        assertThatThrownBy(() -> prepare(MIG)).hasMessageContaining("the switch needs a reset");
        int switches = hardware.calls().get("nvmlDeviceSetMigMode");

        assertThatThrownBy(() -> prepare(MIG)).isInstanceOf(PrepareException.class);

        assertThat(offered()).containsExactly("gpu-0");
        assertThat(provider.inventory().leftOut())
                .singleElement()
                .matches(it -> it.reason().contains("nvidia-smi -i " + hardware.uuid(0) + " -mig 1"));
        restart();
        assertThat(offered()).containsExactly("gpu-0");
        hardware.setMig(0, true); // by a reset
        assertThat(offered()).contains(MIG).doesNotContain("gpu-0");
        unprepare(prepare(MIG));
        assertThat(hardware.isMigEnabled(0)).isTrue();
        assertThat(hardware.calls()).containsEntry("nvmlDeviceSetMigMode", switches);
        if (instead) {
            hardware.lost(0, true);
            offered();
            hardware.lost(0, false);
        } else {
            Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another\n");
            restart();
        }
        assertThat(offered()).contains(MIG, "gpu-0");
    }

    @Test
    void keepTheAdministratorsThatOnlyAResetWouldEnd() {
        provider = start("h100-80", true);
        hardware.setMig(0, true);
        hardware.set(0, "modeNeedsReset", 1);
        offered();

        assertThatThrownBy(() -> prepare("gpu-0")).hasMessageContaining("can't be switched off now");

        assertThat(offered()).contains(MIG).doesNotContain("gpu-0");
        assertThat(nvml.read().gpus().get(0).mig().pending()).isTrue();
    }

    /** In the guest, a vGPU of a divided GPU has MIG mode and one instance, and none can be made. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void giveAVgpuTheCapabilitiesOfItsInstance(boolean dynamicMig) {
        node = StandInNode.install(folder, "a30-divided");
        hardware = node.state();
        hardware.set(0, "virtualization", 2);
        provider = startAgain(dynamicMig, false);
        String existing = "gpu-0-mig-2g12gb-5-0";
        assertThat(offered()).hasSize(3).contains(existing);

        PreparedClaim prepared = prepare(existing);

        assertThat(prepared.devices().get(0).edits().deviceNodes())
                .filteredOn(node -> node.path().startsWith("/dev/nvidia"))
                .extracting(node -> node.path())
                .hasSize(3)
                .contains("/dev/nvidia0");
        unprepare(prepared);
        assertThat(hardware.instances()).hasSize(3);
    }
}
