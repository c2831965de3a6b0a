// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import io.dra4j.tools.MaintenanceView.ClaimPods;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The texts of {@code maintenance status}, each as a whole. */
class MaintenanceViewTest {

    private static final String DRIVER = "gpu.nvidia.com";
    private static final String SINCE = "2026-11-26T03:12:45Z";
    private static final HeldClaim TRAINING = claim("training", "gpu-0", "gpu-1");
    private static final HeldClaim LOST = claim("lost", "gpu-2");
    private static final ClaimPods PODS = new ClaimPods(Map.of(TRAINING.ref(), "pod training-0"), Map.of(), "");
    private static final ClaimPods UNREACHABLE = new ClaimPods(Map.of(), Map.of(), "the API server can't be reached");
    private static final Path TEXTS = Path.of("src/test/resources/io/dra4j/tools/maintenance-status.txt");
    private static final Answer PUBLISHED = new Answer("id", 1, true, false, null);
    private static final Answer SUSPENDED = new Answer("id", 1, true, true, null);

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

    /** The states in the order of the texts, with their titles, and whether the devices are out of use. */
    static Stream<Arguments> states() {
        Answer unpublished = new Answer("id", 1, false, false, null);
        Answer hanging = new Answer("id", 1, true, false, "suspend, in progress since 2026-11-26T03:13:00Z");
        Maintenance some = new Maintenance("id", List.of("gpu-3", "gpu-3-*"), "NoSchedule", SINCE);
        return Stream.of(
                arguments("off", false, state(null, null)),
                arguments("off, with claims", false, state(null, null, TRAINING)),
                arguments("on, without the driver", false, state(all("NoSchedule"), null)),
                arguments("on, before the taint is in the cluster", false, state(all("NoSchedule"), unpublished)),
                arguments("on, with claims", false, state(all("NoSchedule"), PUBLISHED, TRAINING, LOST)),
                arguments("evicting", false, state(all("NoExecute"), PUBLISHED, TRAINING)),
                arguments("on and out of use", true, state(all("NoSchedule"), SUSPENDED)),
                arguments("on and suspended, with claims", false, state(all("NoSchedule"), SUSPENDED, TRAINING)),
                arguments("some devices out of use", true, state(some, PUBLISHED)),
                arguments("some devices, before the taint is in the cluster", false, state(some, unpublished)),
                arguments("some devices, with claims", false, state(some, PUBLISHED, TRAINING)),
                arguments("no such device", false, state(some, new Answer("id", 0, true, false, null))),
                arguments("a suspend that hangs", false, state(all("NoSchedule"), hanging)));
    }

    private static String text(String title) throws IOException {
        return Files.readString(TEXTS)
                        .split("# " + title + "\n", 2)[1]
                        .split("\n# ", 2)[0]
                        .strip() + "\n";
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("states")
    void eachStateHasItsText(String title, boolean isOutOfUse, MaintenanceView.State state) throws Exception {
        assertThat(state.text(PODS)).isEqualTo(text(title));
        assertThat(state.isOutOfUse()).isEqualTo(isOutOfUse);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "{}", "{\"id\": null}", "[1]", "{\"id\": \"id\""})
    void anAnswerThatIsDamagedIsNone(String damaged, @TempDir Path folder) throws Exception {
        Files.writeString(new DataDirectory(folder).maintenanceAnswer(), damaged);

        assertThat(new MaintenanceFiles(folder).answer(all("NoSchedule"))).isEmpty();
    }

    @Test
    void claimsWhosePodsAreUnknownAreShown() throws Exception {
        assertThat(state(all("NoSchedule"), PUBLISHED, TRAINING).text(UNREACHABLE))
                .isEqualTo(text("on, with claims whose pods are unknown"));
        assertThat(state(all("NoExecute"), PUBLISHED, TRAINING).text(UNREACHABLE))
                .endsWith("by an extended resource (resources.limits): delete these by hand.\n");
    }

    @Test
    void evictingWithPodsOfAnExtendedResource() {
        ClaimPods pods = new ClaimPods(
                Map.of(TRAINING.ref(), "pod training-0"), Map.of(TRAINING.ref(), List.of("training-0")), "");

        assertThat(state(all("NoExecute"), PUBLISHED, TRAINING).text(pods)).endsWith("""
                        Before Kubernetes 1.38, the taint does not evict pods that got their device by an extended resource (resources.limits): delete these by hand:
                          kubectl -n team-a delete pod training-0
                        """);
        assertThat(state(all("NoSchedule"), PUBLISHED, TRAINING).text(pods)).doesNotContain("1.38");
    }
}
