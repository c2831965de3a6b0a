// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A policy and a maintenance together, on the devices of a node. */
class DevicePoliciesTest {

    private static final String DRIVER = "gpu.example.com";
    private static final Pool ELSEWHERE = Pool.publishedElsewhere("network");
    private static final Taint HOT = Taint.of("example.com/hot", null, Taint.Effect.NONE);
    private static final Taint MAINTENANCE = Taint.of("gpu.example.com/maintenance", null, Taint.Effect.NO_SCHEDULE);
    private static final Device HOT_GPU = Device.builder("gpu-1").taint(HOT).build();
    private static final Inventory INVENTORY = new Inventory(
            List.of(
                    Pool.ofNode(
                            "worker-7",
                            List.of(
                                    Device.builder("gpu-0").build(),
                                    HOT_GPU,
                                    Device.builder("gpu-2").build())),
                    ELSEWHERE),
            List.of(new LeftOut("gpu-3", "it is lost")));

    @TempDir
    private Path directory;

    private DevicePolicies policies;

    @BeforeEach
    void load() throws Exception {
        Path file = directory.resolve("policy.yaml");
        Files.writeString(file, "rules: [{match: {names: [gpu-0]}, exclude: true}]");
        policies = new DevicePolicies(DRIVER, "worker-7", file, event -> {});
    }

    private static Maintenance maintenance(String... devices) {
        return new Maintenance("id", List.of(devices), "NoSchedule", "now");
    }

    private static List<Device> devices(Inventory inventory) {
        return inventory.pools().get(0).devices();
    }

    @Test
    void excludedDevicesAreLeftOutAndOthersTainted() {
        policies.maintain(maintenance("gpu-1", "gpu-0"));

        Inventory published = policies.apply(INVENTORY);

        assertThat(devices(published))
                .containsExactly(
                        HOT_GPU.toBuilder().taint(MAINTENANCE).build(),
                        Device.builder("gpu-2").build());
        assertThat(published.pools().get(1)).isEqualTo(ELSEWHERE);
        assertThat(published.leftOut()).isEqualTo(INVENTORY.leftOut());
        policies.maintain(null);
        assertThat(devices(policies.apply(INVENTORY))).hasSize(2).contains(HOT_GPU);
    }

    @Test
    void devicesAreCounted() {
        assertThat(policies.excluded(INVENTORY)).isEqualTo(1);
        assertThat(policies.maintained(INVENTORY)).isZero();

        policies.maintain(maintenance("gpu-1", "gpu-2"));

        assertThat(policies.maintained(INVENTORY)).isEqualTo(2);
        assertThat(policies.maintained(List.of(HOT_GPU))).as("in the cluster").isEqualTo(1);
        assertThat(new DevicePolicies(DRIVER, "worker-7", null, e -> {}).excluded(INVENTORY))
                .isZero();
    }

    @Test
    void whatTheClusterHasGetsAndLosesTheTaintOfMaintenanceAlone() {
        policies.maintain(maintenance("*"));
        Device tainted = policies.applyToStored(HOT_GPU);
        assertThat(tainted).isEqualTo(HOT_GPU.toBuilder().taint(MAINTENANCE).build());
        assertThat(policies.applyToStored(tainted)).as("again").isEqualTo(tainted);

        policies.maintain(null);

        assertThat(policies.applyToStored(tainted)).isEqualTo(HOT_GPU);
    }

    @Test
    void aMaintenanceConcernsTheClaimsOfItsDevices() {
        HeldClaim.Builder claim =
                HeldClaim.builder(new ClaimRef("ns", "claim", "uid")).phase(HeldClaim.Phase.PREPARED);
        assertThat(maintenance("gpu-1").concerns(claim.build()))
                .as("a claim whose devices are unknown")
                .isTrue();
        claim.device(HeldDevice.builder("gpu", new PoolName("worker-7"), new DeviceName("gpu-1"))
                .build());

        assertThat(maintenance("gpu-0").concerns(claim.build())).isFalse();
        assertThat(maintenance("gpu-0", "gpu-?").concerns(claim.build())).isTrue();
        assertThat(maintenance("gpu-0", "*").concernsAll()).isTrue();
        assertThat(maintenance("gpu-*").concernsAll()).isFalse();
    }

    @Test
    void aMaintenanceThatCannotBeIsRefused() {
        assertThatThrownBy(() -> maintenance("GPU-1")).hasMessageContaining("matches no name");
        assertThatThrownBy(() -> maintenance()).hasMessageContaining("is missing");
        assertThatThrownBy(() -> new Maintenance("id", List.of("*"), "Never", "now"))
                .hasMessageContaining("not an effect of a taint: Never");
        assertThatThrownBy(() -> new Maintenance(null, List.of("*"), "None", "now"))
                .hasMessageContaining("is missing");
    }
}
