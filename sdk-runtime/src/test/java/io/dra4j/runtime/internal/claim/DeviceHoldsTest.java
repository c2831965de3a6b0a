// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
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
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class DeviceHoldsTest {

    private static final ClaimRef A = new ClaimRef("ns", "a", "uid-a");
    private static final ClaimRef B = new ClaimRef("ns", "b", "uid-b");

    private final DeviceHolds holds = new DeviceHolds();

    @Test
    void aDeviceThatAnotherClaimHoldsIsRefusedUntilItIsReleased() {
        hold(A, List.of(whole("gpu-0")));

        assertThatThrownBy(() -> hold(B, List.of(whole("gpu-0"))))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("node/gpu-0 is held by claim ns/a");

        holds.release("uid-a");
        assertThatCode(() -> hold(B, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void aRefusedClaimHoldsNothing() {
        hold(A, List.of(whole("gpu-1")));
        assertThatThrownBy(() -> hold(B, List.of(whole("gpu-0"), whole("gpu-1"))))
                .isInstanceOf(PrepareException.class);

        assertThatCode(() -> hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void aDeviceOfEqualNameInAnotherPoolIsAnotherDevice() {
        hold(A, List.of(whole("gpu-0")));
        HeldDevice elsewhere =
                new HeldDevice(
                        "r",
                        null,
                        new PoolName("rack"),
                        new DeviceName("gpu-0"),
                        null,
                        Map.of(),
                        false);

        assertThatCode(() -> hold(B, List.of(elsewhere))).doesNotThrowAnyException();
    }

    @Test
    void aClaimMayHoldItsOwnDeviceAgain() {
        hold(A, List.of(whole("gpu-0")));

        assertThatCode(() -> hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void administrationNeitherWaitsNorKeepsOthersWaiting() {
        hold(A, List.of(whole("gpu-0")));
        assertThatCode(() -> hold(B, List.of(device("gpu-0", null, true))))
                .doesNotThrowAnyException();

        holds.release("uid-a");
        assertThatCode(() -> hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void sharesOfOneDeviceAreHeldByTheirShareIds() {
        hold(A, List.of(device("gpu-0", "s1", false)));

        assertThatCode(() -> hold(B, List.of(device("gpu-0", "s2", false))))
                .doesNotThrowAnyException();
        holds.release("uid-b");
        assertThatThrownBy(() -> hold(B, List.of(device("gpu-0", "s1", false))))
                .isInstanceOf(PrepareException.class);
        assertThatThrownBy(() -> hold(B, List.of(whole("gpu-0"))))
                .isInstanceOf(PrepareException.class);
    }

    @Nested
    class DevicesThatOverlap {

        private final Inventory partitions =
                Inventory.of(
                        Pool.ofNode(
                                        "node",
                                        List.of(
                                                taking("full", "80Gi"),
                                                taking("half-0", "40Gi"),
                                                taking("half-1", "40Gi")))
                                .withCounterSets(List.of(new CounterSet("gpu", memory("80Gi")))));

        private static Device taking(String name, String memory) {
            return Device.builder(name)
                    .consumes(new CounterConsumption("gpu", memory(memory)))
                    .build();
        }

        private static Map<String, Quantity> memory(String amount) {
            return Map.of("memory", new Quantity(amount));
        }

        private void hold(ClaimRef claim, Inventory inventory, String... names) {
            holds.hold(claim, Stream.of(names).map(DeviceHoldsTest::whole).toList(), inventory);
        }

        @Test
        void areRefusedWithCounterAndHolder() {
            hold(A, partitions, "half-0");

            assertThatThrownBy(() -> hold(B, partitions, "full"))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("device node/full takes 80Gi of counter memory")
                    .hasMessageContaining("counter set gpu, which has 80Gi")
                    .hasMessageContaining("ns/a");
            assertThatCode(() -> hold(B, partitions, "half-1")).doesNotThrowAnyException();
        }

        @Test
        void areRefusedWithinOneClaimToo() {
            assertThatThrownBy(() -> hold(A, partitions, "half-0", "full"))
                    .isInstanceOf(PrepareException.class);
            assertThatCode(() -> hold(B, partitions, "full")).doesNotThrowAnyException();
        }

        @Test
        void areCountedOnceIfTheyAreShared() {
            List<HeldDevice> one = List.of(device("full", "s1", false));
            List<HeldDevice> other = List.of(device("full", "s2", false));
            holds.hold(A, one, partitions);

            assertThatCode(() -> holds.hold(B, other, partitions)).doesNotThrowAnyException();
        }

        @Test
        void areNotCountedForAdministration() {
            holds.hold(A, List.of(device("half-0", null, true)), partitions);

            assertThatCode(() -> hold(B, partitions, "full")).doesNotThrowAnyException();
        }

        @Test
        void areCountedStillWhenTheyHaveLeftTheInventory() {
            hold(A, partitions, "half-0");
            Pool pool = partitions.pools().get(0);
            Inventory without =
                    Inventory.of(
                            Pool.ofNode("node", List.of(pool.devices().get(0)))
                                    .withCounterSets(pool.counterSets()));

            assertThatThrownBy(() -> hold(B, without, "full")).isInstanceOf(PrepareException.class);
        }

        @Test
        void areCountedAfterARestart() {
            holds.restore(A, List.of(whole("half-0")));

            assertThatThrownBy(() -> hold(B, partitions, "full"))
                    .isInstanceOf(PrepareException.class);
        }

        @Test
        void areFreeWhenTheyAreReleased() {
            hold(A, partitions, "half-0");
            holds.release("uid-a");

            assertThatCode(() -> hold(B, partitions, "full")).doesNotThrowAnyException();
        }
    }

    private void hold(ClaimRef claim, List<HeldDevice> devices) {
        holds.hold(claim, devices, Inventory.of());
    }

    private static HeldDevice whole(String name) {
        return device(name, null, false);
    }

    private static HeldDevice device(String name, String shareId, boolean admin) {
        return new HeldDevice(
                "r", null, new PoolName("node"), new DeviceName(name), shareId, Map.of(), admin);
    }
}
