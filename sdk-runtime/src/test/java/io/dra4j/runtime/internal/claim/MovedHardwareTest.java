// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims with a record, when the names of devices mean other hardware than before. */
class MovedHardwareTest extends NodeFixture {

    private static final List<String> BEFORE = List.of("GPU-x", "GPU-y");
    private static final List<String> SWAPPED = List.of("GPU-y", "GPU-x");

    @BeforeEach
    void allocate() {
        provider.hardware = BEFORE;
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
    }

    private List<HeldDevice> recorded() {
        return node.journal.claim(A.uid()).orElseThrow().devices();
    }

    @Test
    void theRecordHasThePhysicalIdOfEachDevice() {
        provider.onPrepare = (claim, context) ->
                assertThat(recorded()).extracting(HeldDevice::physicalId).containsExactly("GPU-x");

        assertThat(node.prepare(A)).isInstanceOf(Prepared.class);

        assertThat(recorded()).extracting(HeldDevice::physicalId).containsExactly("GPU-x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"boot-1", "boot-2"})
    void aPreparedClaimWhoseDeviceMovedIsRefusedWithBothIds(String boot) {
        node.prepare(A);
        provider.hardware = SWAPPED;
        node.restart(boot);

        assertThat(message(node.prepare(A))).contains("node/gpu-0", "GPU-x", "GPU-y", "delete the pod and the claim");
        assertThat(message(node.prepare(A))).contains("GPU-x", "GPU-y");
        assertThat(provider.calls).isEmpty();
    }

    @Test
    void aRefusedClaimIsUnpreparedAsEver() {
        node.prepare(A);
        provider.hardware = SWAPPED;
        node.restart("boot-2");
        node.prepare(A);

        assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);
        assertThat(provider.unprepared.get(0).devices())
                .extracting(HeldDevice::physicalId)
                .containsExactly("GPU-x");
        assertThat(node.journal.claims()).isEmpty();
    }

    @Test
    void aClaimWhosePrepareWasInterruptedIsRefusedToo() {
        provider.failPrepare(new IllegalStateException("no"));
        provider.failUnprepare(new IllegalStateException("no"));
        node.prepare(A);
        assertThat(node.phase(A)).isNotEqualTo(Phase.PREPARED);
        provider.onPrepare = (claim, context) -> {};
        provider.onUnprepare = claim -> {};
        provider.hardware = SWAPPED;
        node.restart("boot-2");

        assertThat(message(node.prepare(A))).contains("GPU-x", "GPU-y");
        assertThat(provider.calls).isEmpty();
    }

    /** The name that A has is free again once the API server has no claim with it, which the kubelet may have forgotten. */
    @Test
    void hardwareIsNotGivenAwayUnderAnotherNameWhileAClaimHoldsIt() {
        node.prepare(A);
        provider.hardware = SWAPPED;

        assertThat(message(node.prepare(B))).contains("node/gpu-1", "another name", "is held");
        assertThat(provider.calls).containsExactly("prepare uid-a");

        node.unprepare(A);
        assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
    }

    @Nested
    class IsNotRefused {

        @ParameterizedTest
        @ValueSource(strings = {"boot-1", "boot-2"})
        void aClaimOfTheSameHardware(String boot) {
            PrepareOutcome first = node.prepare(A);
            node.restart(boot);

            assertThat(node.prepare(A)).isEqualTo(first);
        }

        @Test
        void aClaimThatWasPreparedBeforeDevicesHadIds() {
            provider.hardware = List.of();
            PrepareOutcome first = node.prepare(A);
            provider.hardware = SWAPPED;
            node.restart("boot-1");

            assertThat(node.prepare(A)).isEqualTo(first);
            assertThat(provider.calls).isEmpty();
        }

        @Test
        void aPreparedClaimWhoseDeviceLeftTheInventory() {
            PrepareOutcome first = node.prepare(B);
            provider.devices = 1;
            node.restart("boot-1");

            assertThat(node.prepare(B)).isEqualTo(first);
        }
    }
}
