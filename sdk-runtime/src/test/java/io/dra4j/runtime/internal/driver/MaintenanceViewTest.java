// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The texts of {@code maintenance status}, each as a whole. */
class MaintenanceViewTest {

    private static final String DRIVER = "gpu.nvidia.com";
    private static final String SINCE = "2026-11-26T03:12:45Z";
    private static final HeldClaim TRAINING = claim("training", "gpu-0", "gpu-1");
    private static final HeldClaim LOST = claim("lost", "gpu-2");
    private static final ClaimPods PODS = new ClaimPods(Map.of(TRAINING.ref(), "pod training-0"), Map.of(), "");
    private static final Answer PUBLISHED = new Answer("id", true, false, null);
    private static final Answer SUSPENDED = new Answer("id", true, true, null);

    private static HeldClaim claim(String name, String... devices) {
        HeldClaim.Builder claim = HeldClaim.builder(new ClaimRef("team-a", name, "uid-of-" + name))
                .phase(HeldClaim.Phase.PREPARED);
        Stream.of(devices)
                .map(device -> new DeviceName(device))
                .forEach(device -> claim.device(HeldDevice.builder("gpu", new PoolName("node-a"), device)
                        .build()));
        return claim.build();
    }

    private static Maintenance all(String effect) {
        return new Maintenance("id", List.of("*"), effect, SINCE);
    }

    private static MaintenanceView.State state(Maintenance asked, Answer answer, HeldClaim... holders) {
        return new MaintenanceView.State(
                DRIVER, Optional.ofNullable(asked), Optional.ofNullable(answer), List.of(holders));
    }

    private static void assertShown(MaintenanceView.State state, boolean isOutOfUse, String expected) {
        assertThat(state.text(PODS)).isEqualTo(expected);
        assertThat(state.isOutOfUse()).isEqualTo(isOutOfUse);
    }

    @Test
    void off() {
        assertShown(state(null, null), false, """
                Maintenance is off.
                No claim holds a device of gpu.nvidia.com.
                """);
    }

    @Test
    void offWithClaims() {
        assertShown(state(null, null, TRAINING), false, """
                Maintenance is off.
                1 claim holds devices of gpu.nvidia.com:
                  team-a/training (pod training-0): gpu-0, gpu-1
                """);
    }

    @Test
    void onWithoutTheDriver() {
        assertShown(state(all("NoSchedule"), null), false, """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The driver has not seen it yet; it does so once it runs.
                The driver has not given its hardware back yet.
                No claim holds such a device.
                """);
    }

    @Test
    void onBeforeTheTaintIsInTheCluster() {
        assertShown(state(all("NoSchedule"), new Answer("id", false, false, null)), false, """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The taint is not in the cluster yet; see the driver's log and /readyz.
                The driver has not given its hardware back yet.
                No claim holds such a device.
                """);
    }

    @Test
    void onWithClaims() {
        assertShown(state(all("NoSchedule"), PUBLISHED, TRAINING, LOST), false, """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The taint is in the cluster, or the devices are withdrawn.
                2 claims hold such devices:
                  team-a/training (pod training-0): gpu-0, gpu-1
                  team-a/lost (pods unknown): gpu-2
                The claims end with their pods: delete or drain these, or run `maintenance on --evict`.
                """);
    }

    @Test
    void onWithClaimsWhosePodsAreUnknown() {
        assertThat(state(all("NoSchedule"), PUBLISHED, TRAINING)
                        .text(new ClaimPods(Map.of(), Map.of(), "the API server can't be reached")))
                .isEqualTo("""
                        Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                        The taint is in the cluster, or the devices are withdrawn.
                        1 claim holds such devices:
                          team-a/training (pods unknown): gpu-0, gpu-1
                        Their pods are unknown: the API server can't be reached.
                        The claims end with their pods: delete or drain these, or run `maintenance on --evict`.
                        """);
    }

    @Test
    void evicting() {
        assertShown(state(all("NoExecute"), PUBLISHED, TRAINING), false, """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoExecute.
                The taint is in the cluster, or the devices are withdrawn.
                1 claim holds such devices:
                  team-a/training (pod training-0): gpu-0, gpu-1
                The claims end with their pods: from Kubernetes 1.36 on, the cluster evicts those that do not tolerate the taint; delete or drain the others.
                """);
    }

    @Test
    void evictingWithPodsOfAnExtendedResource() {
        ClaimPods pods = new ClaimPods(
                Map.of(TRAINING.ref(), "pod training-0"), Map.of(TRAINING.ref(), List.of("training-0")), "");

        assertThat(state(all("NoExecute"), PUBLISHED, TRAINING).text(pods)).endsWith("""
                        Before Kubernetes 1.38, it does not evict pods that got their device by an extended resource (resources.limits): delete these by hand:
                          kubectl -n team-a delete pod training-0
                        """);
        assertThat(state(all("NoSchedule"), PUBLISHED, TRAINING).text(pods)).doesNotContain("1.38");
    }

    @Test
    void evictingWithUnknownPods() {
        assertThat(state(all("NoExecute"), PUBLISHED, TRAINING)
                        .text(new ClaimPods(Map.of(), Map.of(), "the API server can't be reached")))
                .endsWith("by an extended resource (resources.limits): delete these by hand.\n");
    }

    @Test
    void onAndOutOfUse() {
        assertShown(state(all("NoSchedule"), SUSPENDED), true, """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The taint is in the cluster, or the devices are withdrawn.
                The driver has given its hardware back.
                No claim holds such a device.
                """);
    }

    @Test
    void someDevicesOutOfUse() {
        assertShown(
                state(new Maintenance("id", List.of("gpu-3", "gpu-3-*"), "NoSchedule", SINCE), PUBLISHED), true, """
                Maintenance is on since 2026-11-26T03:12:45Z: devices gpu-3,gpu-3-* of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The taint is in the cluster, or the devices are withdrawn.
                No claim holds such a device.
                """);
    }

    @Test
    void aSuspendThatHangs() {
        assertShown(
                state(
                        all("NoSchedule"),
                        new Answer("id", true, false, "suspend, in progress since 2026-11-26T03:13:00Z")),
                false,
                """
                Maintenance is on since 2026-11-26T03:12:45Z: all devices of gpu.nvidia.com, taint gpu.nvidia.com/maintenance with NoSchedule.
                The taint is in the cluster, or the devices are withdrawn.
                The driver can't give its hardware back: suspend, in progress since 2026-11-26T03:13:00Z. If that does not end, restart the driver's pod, or reboot the node.
                No claim holds such a device.
                """);
    }

    @Test
    void devicesAreInUseWhileAClaimHoldsOneOrTheTaintIsMissing() {
        Maintenance some = new Maintenance("id", List.of("gpu-0"), "NoSchedule", SINCE);

        assertThat(state(some, PUBLISHED).isOutOfUse()).isTrue();
        assertThat(state(some, PUBLISHED, TRAINING).isOutOfUse()).isFalse();
        assertThat(state(some, new Answer("id", false, false, null)).isOutOfUse())
                .isFalse();
        assertThat(state(all("NoSchedule"), SUSPENDED, TRAINING).isOutOfUse()).isFalse();
    }
}
