// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SuspendableProviderTest {

    private static final HeldDevice GPU =
            HeldDevice.builder("gpu", new PoolName("node-a"), new DeviceName("gpu-0")).build();
    private static final HeldClaim CLAIM =
            HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
                    .phase(HeldClaim.Phase.PREPARED)
                    .device(GPU)
                    .build();
    private static final DeviceReadings READINGS =
            DeviceReadings.builder().value(DeviceMeasure.POWER, 80).build();

    private final Hardware hardware = new Hardware();
    private final SuspendableProvider provider = new SuspendableProvider(hardware);

    @BeforeEach
    void read() throws Exception {
        provider.inventory();
        hardware.calls.clear();
    }

    /** A provider that records its calls. */
    private static final class Hardware implements DeviceProvider {
        final List<String> calls = new ArrayList<>();

        @Override
        public DeviceMeter meter() {
            calls.add("meter");
            return new DeviceMeter() {
                @Override
                public DeviceReadings measure(HeldClaim claim, HeldDevice device) {
                    calls.add("measure");
                    return READINGS;
                }

                @Override
                public void close() {
                    calls.add("close");
                }
            };
        }

        @Override
        public Inventory inventory() {
            return Inventory.of();
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {}
    }

    @Test
    void passesTheProvidersMeterOn() throws Exception {
        try (DeviceMeter meter = provider.meter()) {
            assertThat(meter.measure(CLAIM, GPU)).isEqualTo(READINGS);
        }

        assertThat(hardware.calls).containsExactly("meter", "measure", "close");
    }

    @Test
    void measuresNothingWhileItIsSuspended() throws Exception {
        DeviceMeter earlier = provider.meter();
        assertThat(provider.trySuspend()).isTrue();
        hardware.calls.clear();

        assertThat(earlier.measure(CLAIM, GPU)).isEqualTo(DeviceReadings.NONE);
        assertThat(provider.meter()).isEqualTo(DeviceMeter.NONE);
        assertThat(hardware.calls).isEmpty();
        earlier.close();
        assertThat(hardware.calls).containsExactly("close");

        provider.resume();
        assertThat(provider.meter().measure(CLAIM, GPU)).isEqualTo(READINGS);
    }
}
