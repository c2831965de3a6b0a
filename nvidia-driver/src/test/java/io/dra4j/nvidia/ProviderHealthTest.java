// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.health.XidEffects;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of GPUs become taints and reports. */
@Tag("slow")
class ProviderHealthTest extends TaintsOnBoards {

    private static final Taint LOST = Taint.of("gpu.nvidia.com/gpu-lost", null, Taint.Effect.NO_SCHEDULE);
    private static final Taint UNMONITORED = Taint.of("gpu.nvidia.com/unmonitored", null, Taint.Effect.NONE);

    private static final int MANY = 1_000_000; // calls

    private static Taint xid(long number) {
        return xid(number, Taint.Effect.NO_SCHEDULE);
    }

    private static Taint xid(long number, Taint.Effect effect) {
        return Taint.of("gpu.nvidia.com/xid", Long.toString(number), effect);
    }

    @Test
    void aLostGpuTaintsItselfAlone() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        assertThat(taints(provider)).isEmpty();

        hardware.lost(2, true);

        assertThat(awaitTainted(provider, 1)).isEqualTo(Map.of("gpu-2", List.of(LOST)));
        assertThat(context.health.get("gpu-2").state()).isEqualTo(HealthState.UNHEALTHY);
        assertThat(context.health.get("gpu-2").message()).contains("fallen off the bus");
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.HEALTHY);
        hardware.lost(2, false);
        assertThat(awaitTainted(provider, 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "NONE, 2, 0, in-progress",
        "NO_SCHEDULE, 2, 0, in-progress",
        "NO_SCHEDULE, 3, 5, failed-5",
        "NO_EXECUTE, 1, 0, not-started"
    })
    void aFabricThatIsNotUpTaintsWholeGpus(Taint.Effect effect, int state, int status, String title) {
        fabric = effect;
        NvidiaDeviceProvider provider = start("h100-80", true);
        hardware.set(4, "fabricState", state);
        hardware.set(4, "fabricStatus", status);

        assertThat(taints(provider))
                .isEqualTo(Map.of("gpu-4", List.of(Taint.of("gpu.nvidia.com/nvlink-fabric", title, fabric))));
        assertThat(context.health.get("gpu-4").state())
                .isEqualTo(fabric == Taint.Effect.NONE ? HealthState.HEALTHY : HealthState.UNHEALTHY);
        hardware.set(4, "fabricState", 3);
        hardware.set(4, "fabricStatus", 0);
        assertThat(taints(provider)).isEmpty();
        assertThat(context.health.get("gpu-4").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void aLostGpuIsNotAlsoUnmonitored() throws Exception {
        start("l40s", false);
        hardware.fails("nvmlDeviceRegisterEvents", 2, 999, MANY);
        stop();
        NvidiaDeviceProvider provider = startAgain(false, false);
        Map<String, List<Taint>> before = Map.of("gpu-2", List.of(UNMONITORED));
        awaitTaints(provider, before);

        hardware.lost(2, true);

        assertThat(awaitTaints(provider, taints -> !taints.equals(before))).isEqualTo(Map.of("gpu-2", List.of(LOST)));
    }

    @Test
    void anErrorTaintsAllMigDevicesOfTheGpu() throws Exception {
        NvidiaDeviceProvider provider = start("mixed", true);

        hardware.recovery(0, 1);
        hardware.xid(0, -1, 79);

        Map<String, List<Taint>> taints = awaitTainted(provider, 26);
        assertThat(taints).hasSize(26).containsEntry("gpu-0", List.of(xid(79)));
        assertThat(taints.keySet()).allMatch(name -> name.startsWith("gpu-0"));
    }

    @Test
    void anErrorOfAnInstanceTaintsWhatIsWhereItIs() throws Exception {
        NvidiaDeviceProvider provider = start("a100-40-divided", false);
        hardware.recovery(1, 1);

        hardware.xid(1, hardware.instanceAt(1, 4).id(), 95);

        assertThat(awaitTainted(provider, 1)).isEqualTo(Map.of("gpu-1-mig-3g20gb-9-4", List.of(xid(95))));
    }

    @Test
    void aLostGpuThatFailedBeforeHidesNoOther() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.recovery(0, 1);
        hardware.recovery(3, 1);
        hardware.xid(0, -1, 79);
        hardware.xid(3, -1, 48);
        awaitTainted(provider, 2);
        hardware.lost(0, true);

        hardware.recovery(3, 0);

        awaitTaints(provider, Map.of("gpu-0", List.of(LOST, xid(79))));
    }

    @Test
    void ofAGpuThatCannotBeReadIsUnknown() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        Inventory before = provider.inventory();

        hardware.scramble(1, "nowhere".getBytes(StandardCharsets.UTF_8));

        assertThat(provider.inventory()).isEqualTo(before);
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.UNKNOWN);
        assertThat(context.health.get("gpu-2").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void anErrorWithoutNeedOfRecoveryOnlyInforms() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.recovery(1, 1);

        hardware.xid(0, -1, 48); // the driver asks for no recovery
        hardware.xid(1, -1, 94); // to be ignored by the settings

        assertThat(awaitTainted(provider, 2))
                .isEqualTo(Map.of(
                        "gpu-0", List.of(xid(48, Taint.Effect.NONE)),
                        "gpu-1", List.of(xid(94, Taint.Effect.NONE))));
        assertThat(context.health.get("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void anErrorWithNeedOfRecoveryTaintsAtOnceWhateverItsNumber() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.recovery(2, 1);

        hardware.xid(2, -1, 31); // which applications cause, too

        assertThat(awaitTainted(provider, 1)).isEqualTo(Map.of("gpu-2", List.of(xid(31))));
    }

    @Test
    void aHarmlessErrorBecomesFatalIfTheGpuNeedsARecoveryLater() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.xid(0, -1, 48);
        awaitTainted(provider, 1);

        hardware.recovery(0, 2);

        hardware.xid(0, -1, 48); // the first may have been forgotten by now
        awaitTaints(provider, Map.of("gpu-0", List.of(xid(48))));
    }

    @Test
    void aTaintGoesWhenTheGpuHasRecovered() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.recovery(3, 1);
        hardware.xid(3, -1, 48);
        awaitTainted(provider, 1);

        hardware.recovery(3, 0);

        assertThat(awaitTainted(provider, 0)).isEmpty();
    }

    @Test
    void isRememberedOverARestartAndForgottenAfterAReboot() throws Exception {
        NvidiaDeviceProvider first = start("l40s", false);
        hardware.recovery(3, 1);
        hardware.xid(3, -1, 48);
        awaitTainted(first, 1);
        hardware.lost(1, true);
        awaitTainted(first, 2);
        stop();

        Map<String, List<Taint>> then = taints(startAgain(false, false));

        assertThat(then).isEqualTo(Map.of("gpu-1", List.of(LOST), "gpu-3", List.of(xid(48))));
        stop();
        hardware.lost(1, false);
        Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another\n");
        assertThat(taints(startAgain(false, false))).isEmpty();
    }

    @Test
    void theSettingsChooseTheEffect() throws Exception {
        effects = XidEffects.parse("48=NoExecute,13=NoSchedule");
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.recovery(0, 1);
        hardware.recovery(1, 1);

        hardware.xid(0, -1, 79); // of another effect, which is weaker
        hardware.xid(0, -1, 48);
        hardware.xid(0, -1, 79);
        hardware.xid(1, -1, 13);

        assertThat(awaitTainted(provider, 2))
                .isEqualTo(Map.of(
                        "gpu-0", List.of(xid(48, Taint.Effect.NO_EXECUTE)),
                        "gpu-1", List.of(xid(13))));
    }

    @Test
    void aTaintStaysForAsLongAsFailedMemoryIsNotReplaced() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.set(0, "rowsPending", 1);
        hardware.recovery(0, 1);
        hardware.recovery(1, 1);
        hardware.xid(0, -1, 95);
        hardware.xid(1, -1, 48);
        awaitTainted(provider, 2);

        hardware.recovery(0, 0);
        hardware.recovery(1, 0);
        awaitTainted(provider, 1); // both were checked together
        assertThat(taints(provider)).containsOnlyKeys("gpu-0");

        hardware.set(0, "rowsPending", 0);

        awaitTaints(provider, Map.of());
    }

    @Test
    void gpusWithoutFaultsAreNotAskedForRecovery() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.fails("nvmlDeviceGetFieldValues", 1, 999, MANY);
        hardware.fails("nvmlDeviceGetFieldValues", 2, 999, MANY);
        hardware.recovery(0, 1);
        hardware.xid(0, -1, 48);
        awaitTainted(provider, 1);

        hardware.recovery(0, 0);

        awaitTaints(provider, Map.of());
        assertThat(hardware.hasFailed(MANY)).isFalse();
    }
}
