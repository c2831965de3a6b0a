// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeviceHoldsTest {

    private static final ClaimRef A = new ClaimRef("ns", "a", "uid-a");
    private static final ClaimRef B = new ClaimRef("ns", "b", "uid-b");

    private final DeviceHolds holds = new DeviceHolds();

    @Test
    void aDeviceThatAnotherClaimHoldsIsRefusedUntilItIsReleased() {
        holds.hold(A, List.of(whole("gpu-0")));

        assertThatThrownBy(() -> holds.hold(B, List.of(whole("gpu-0"))))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("node/gpu-0 is held by claim ns/a");

        holds.release("uid-a");
        assertThatCode(() -> holds.hold(B, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void aRefusedClaimHoldsNothing() {
        holds.hold(A, List.of(whole("gpu-1")));
        assertThatThrownBy(() -> holds.hold(B, List.of(whole("gpu-0"), whole("gpu-1"))))
                .isInstanceOf(PrepareException.class);

        assertThatCode(() -> holds.hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void aDeviceOfEqualNameInAnotherPoolIsAnotherDevice() {
        holds.hold(A, List.of(whole("gpu-0")));
        HeldDevice elsewhere =
                new HeldDevice(
                        "r", new PoolName("rack"), new DeviceName("gpu-0"), null, Map.of(), false);

        assertThatCode(() -> holds.hold(B, List.of(elsewhere))).doesNotThrowAnyException();
    }

    @Test
    void aClaimMayHoldItsOwnDeviceAgain() {
        holds.hold(A, List.of(whole("gpu-0")));

        assertThatCode(() -> holds.hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void administrationNeitherWaitsNorKeepsOthersWaiting() {
        holds.hold(A, List.of(whole("gpu-0")));
        assertThatCode(() -> holds.hold(B, List.of(device("gpu-0", null, true))))
                .doesNotThrowAnyException();

        holds.release("uid-a");
        assertThatCode(() -> holds.hold(A, List.of(whole("gpu-0")))).doesNotThrowAnyException();
    }

    @Test
    void sharesOfOneDeviceAreHeldByTheirShareIds() {
        holds.hold(A, List.of(device("gpu-0", "s1", false)));

        assertThatCode(() -> holds.hold(B, List.of(device("gpu-0", "s2", false))))
                .doesNotThrowAnyException();
        holds.release("uid-b");
        assertThatThrownBy(() -> holds.hold(B, List.of(device("gpu-0", "s1", false))))
                .isInstanceOf(PrepareException.class);
        assertThatThrownBy(() -> holds.hold(B, List.of(whole("gpu-0"))))
                .isInstanceOf(PrepareException.class);
    }

    private static HeldDevice whole(String name) {
        return device(name, null, false);
    }

    private static HeldDevice device(String name, String shareId, boolean admin) {
        return new HeldDevice(
                "r", new PoolName("node"), new DeviceName(name), shareId, Map.of(), admin);
    }
}
