// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.policy.DevicePolicies.PolicyFile;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The policy of a file, look by look, as policy-file.txt says. */
class PolicyFileTest implements ScenarioSteps {

    private static final String NONE = "rules: []";
    private static final Inventory INVENTORY = Inventory.of(Pool.ofNode(
            "worker-7",
            List.of(
                    Device.builder("gpu-0").build(),
                    Device.builder("gpu-1")
                            .attribute("example.com/tier", AttributeValue.of(1))
                            .build())));

    @TempDir
    private Path directory;

    private final List<DriverEvent> events = new ArrayList<>();
    private Path path;
    private PolicyFile loaded;

    @BeforeEach
    void write() throws IOException {
        path = directory.resolve("policy.yaml");
        Files.writeString(path, NONE);
    }

    private PolicyFile load() {
        return new PolicyFile(path, new PolicyReader("gpu.example.com", "worker-7"), events::add);
    }

    private void write(String policy) throws IOException {
        Path next = directory.resolve("next.yaml");
        Files.writeString(next, policy);
        Files.delete(path);
        Files.move(next, path);
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "load" -> loaded = load();
            case "write" -> write(text);
            case "remove" -> Files.delete(path);
            case "look" -> assertThat(loaded.reload(INVENTORY)).isEqualTo(text.equals("changed"));
            case "look-without-devices" -> assertThat(loaded.reload(null)).isEqualTo(text.equals("changed"));
            case "check-fails" ->
                assertThatThrownBy(() -> loaded.check(INVENTORY))
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "left" ->
                assertThat(list(loaded.current().apply(INVENTORY).pools().get(0).devices().stream()
                                .map(Device::name)))
                        .isEqualTo(text);
            case "events" ->
                assertThat(list(events.stream().map(DriverEvent::reason))).isEqualTo(text);
            case "event" ->
                assertThat(events)
                        .singleElement()
                        .satisfies(event -> assertThat(event.message())
                                .contains(
                                        text.replace("{file}", path.toString()).split(" \\| ")));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("policy-file.txt")
    void aPolicyIsReloadedWhenItsFileIsWritten(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void aFileThatCannotBeAPolicyIsNotRead() throws Exception {
        write("#".repeat(1 << 20) + "\n" + NONE);
        assertThatThrownBy(this::load).hasMessageContaining("it has more than 1 MiB");

        Files.delete(path);
        assertThatThrownBy(this::load)
                .hasMessageContaining("The device policy " + path + " can't be applied: there is no");

        Files.write(path, new byte[] {'r', (byte) 0xff});
        assertThatThrownBy(this::load).hasMessageContaining("it can't be read as UTF-8 text");
    }

    /** A policy and a maintenance together, on the devices of a node. */
    @Nested
    class OnDevices {

        private static final String DRIVER = "gpu.example.com";
        private static final Pool ELSEWHERE = Pool.publishedElsewhere("network");
        private static final Taint HOT = Taint.of("example.com/hot", null, Taint.Effect.NONE);
        private static final Taint MAINTENANCE =
                Taint.of("gpu.example.com/maintenance", null, Taint.Effect.NO_SCHEDULE);
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
            assertThat(policies.maintained(List.of(HOT_GPU)))
                    .as("in the cluster")
                    .isEqualTo(1);
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
}
