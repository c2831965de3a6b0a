// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds.HoldConflict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceHoldsTest {

    private static final ClaimRef A = new ClaimRef("ns", "a", "uid-a");
    private static final ClaimRef B = new ClaimRef("ns", "b", "uid-b");

    private final DeviceHolds devices = new DeviceHolds("drv.example");
    private final Map<String, ClaimRecord> committed = new LinkedHashMap<>();

    @Test
    void aDeviceThatAnotherClaimHoldsIsRefusedUntilItIsReleased() {
        hold(A, List.of(whole("gpu-0")));

        assertThatThrownBy(() -> hold(B, List.of(whole("gpu-0"))))
                .isInstanceOf(PrepareException.class)
                .hasMessage("device node/gpu-0 is held by another claim (UID uid-a…); it is free once"
                        + " that claim is unprepared")
                .hasRootCauseMessage("Held by ns/a (UID uid-a) PREPARING");

        committed.remove("uid-a");
        hold(B, List.of(whole("gpu-0")));
    }

    @Test
    void neitherTheClaimsOwnDeviceNorOneOfEqualNameInAnotherPoolIsHeldByAnother() {
        hold(A, List.of(whole("gpu-0")));

        hold(A, List.of(whole("gpu-0")));

        HeldDevice elsewhere = device("rack", "gpu-0", null, Map.of(), false);

        hold(B, List.of(elsewhere));
    }

    @Test
    void administrationNeitherWaitsNorKeepsOthersWaiting() {
        hold(A, List.of(whole("gpu-0")));
        hold(B, List.of(device("gpu-0", null, true)));

        committed.remove("uid-a");
        hold(A, List.of(whole("gpu-0")));
    }

    @Test
    void sharesOfOneDeviceAreHeldByTheirShareIds() {
        hold(A, List.of(device("gpu-0", "s1", false)));

        hold(B, List.of(device("gpu-0", "s2", false)));
        committed.remove("uid-b");
        assertRefused(() -> hold(B, List.of(device("gpu-0", "s1", false))));
        assertRefused(() -> hold(B, List.of(whole("gpu-0"))));
    }

    @Nested
    class DevicesThatOverlap {

        private final Inventory partitions = Inventory.of(
                Pool.ofNode("node", List.of(taking("full", "80Gi"), taking("half-0", "40Gi"), taking("half-1", "40Gi")))
                        .withCounterSets(List.of(CounterSet.of("gpu", memory("80Gi")))));

        private static Device taking(String name, String memory) {
            return Device.builder(name)
                    .consumes(CounterConsumption.of("gpu", memory(memory)))
                    .build();
        }

        private static Map<String, Quantity> memory(String amount) {
            return Map.of("memory", new Quantity(amount));
        }

        private void hold(ClaimRef claim, Inventory inventory, String... names) {
            DeviceHoldsTest.this.hold(
                    claim, Stream.of(names).map(DeviceHoldsTest::whole).toList(), inventory);
        }

        @Test
        void areRefusedWithCounterAndHolder() {
            hold(A, partitions, "half-0");

            assertThatThrownBy(() -> hold(B, partitions, "full"))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("device node/full takes 80Gi of counter memory")
                    .hasMessageContaining("counter set gpu of pool node, which has 80Gi")
                    .hasMessageContaining("and 42949672960 of it is held by another claim (UID")
                    .hasMessageNotContaining("ns/a");
            hold(B, partitions, "half-1");
        }

        @Test
        void areRefusedWithinOneClaimToo() {
            assertRefused(() -> hold(A, partitions, "half-0", "full"));
            hold(B, partitions, "full");
        }

        @Test
        void areCountedOnceIfTheyAreShared() {
            List<HeldDevice> one = List.of(device("full", "s1", false));
            List<HeldDevice> other = List.of(device("full", "s2", false));
            DeviceHoldsTest.this.hold(A, one, partitions);

            DeviceHoldsTest.this.hold(B, other, partitions);
        }

        @Test
        void areNotCountedForAdministration() {
            DeviceHoldsTest.this.hold(A, List.of(device("half-0", null, true)), partitions);

            hold(B, partitions, "full");
        }

        @Test
        void areCountedStillWhenTheyHaveLeftTheInventory() {
            hold(A, partitions, "half-0");
            Pool pool = partitions.pools().get(0);
            Inventory without = Inventory.of(
                    Pool.ofNode("node", List.of(pool.devices().get(0))).withCounterSets(pool.counterSets()));

            assertRefused(() -> hold(B, without, "full"));
        }

        @ParameterizedTest
        @CsvSource({
            "chip-1, chip-0, true", // the claim's chip is quarter now
            "chip-1, chip-2, false", // it is gone
            "'', chip-0, true"
        })
        void areCountedByTheNameThatTheirHardwareHasNow(String full, String quarter, boolean isHeld) {
            put(
                    A,
                    List.of(HeldDevice.builder("r", new PoolName("node"), new DeviceName("full"))
                            .physicalId("chip-0")
                            .build()));
            List<Device> now = List.of(
                    taking("full", "80Gi").toBuilder().physicalId(full).build(),
                    taking("quarter", "20Gi").toBuilder().physicalId(quarter).build(),
                    taking("half", "40Gi"),
                    taking("most", "70Gi"));
            Inventory moved = Inventory.of(
                    Pool.ofNode("node", now).withCounterSets(List.of(CounterSet.of("gpu", memory("80Gi")))));

            hold(B, moved, "half");
            committed.remove("uid-b");

            if (isHeld) {
                assertRefused(() -> hold(B, moved, "most"));
            } else {
                hold(B, moved, "most");
            }
        }
    }

    @Nested
    class SharesOfADevice {

        private final Inventory shared = Inventory.of(Pool.ofNode(
                "node",
                List.of(Device.builder("gpu-0")
                        .allowMultipleAllocations(true)
                        .capacity("memory", "80Gi")
                        .build())));

        private HeldDevice share(String id, String memory) {
            return share(id, "memory", memory);
        }

        private HeldDevice share(String id, String capacity, String memory) {
            return device("node", "gpu-0", id, Map.of(capacity, new Quantity(memory)), false);
        }

        @ParameterizedTest
        @CsvSource({
            "memory, memory, drv.example/memory",
            "memory, drv.example/memory, memory",
            "drv.example/memory, memory, memory",
            "drv.example/memory, memory, drv.example/memory"
        })
        void areAddedUpInBothFormsOfACapacitysName(String published, String held, String wanted) {
            Inventory inventory = Inventory.of(Pool.ofNode(
                    "node",
                    List.of(Device.builder("gpu-0")
                            .allowMultipleAllocations(true)
                            .capacity(published, "10")
                            .build())));
            hold(A, List.of(share("s1", held, "8")), inventory);

            assertThatThrownBy(() -> hold(B, List.of(share("s2", wanted, "8")), inventory))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("takes 8 of capacity memory of device node/gpu-0, which has 10")
                    .hasMessageContaining("8 of it is held by another claim (UID uid-a…)");
            hold(B, List.of(share("s2", wanted, "2")), inventory);
        }

        @Test
        void areAddedUpWithinOneClaimToo() {
            assertThatThrownBy(() -> hold(A, List.of(share("s1", "50Gi"), share("s2", "50Gi")), shared))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("the claim takes more than there is");
        }

        @Test
        void ofCapacitiesThatTheDeviceDoesNotNameAreNotLimited() {
            hold(A, List.of(share("s1", "500Gi")), Inventory.of());
        }
    }

    private static void assertRefused(ThrowingCallable hold) {
        assertThatThrownBy(hold).isInstanceOf(PrepareException.class);
    }

    private void hold(ClaimRef claim, List<HeldDevice> wanted) {
        hold(claim, wanted, Inventory.of());
    }

    private void hold(ClaimRef claim, List<HeldDevice> wanted, Inventory inventory) {
        devices.conflict(claim.uid(), wanted, ClaimIndex.of(committed.values()), inventory)
                .ifPresent(HoldConflict::refuse);
        put(claim, wanted);
    }

    private void put(ClaimRef claim, List<HeldDevice> held) {
        committed.put(claim.uid(), new ClaimRecord(claim, Phase.PREPARING, "boot", held, null, null, null, null, null));
    }

    private static HeldDevice whole(String name) {
        return device(name, null, false);
    }

    private static HeldDevice device(String name, String shareId, boolean admin) {
        return device("node", name, shareId, Map.of(), admin);
    }

    private static HeldDevice device(
            String pool, String name, String shareId, Map<String, Quantity> takes, boolean admin) {
        return HeldDevice.builder("r", new PoolName(pool), new DeviceName(name))
                .shareId(shareId)
                .consumedCapacity(takes)
                .adminAccess(admin)
                .build();
    }
}
