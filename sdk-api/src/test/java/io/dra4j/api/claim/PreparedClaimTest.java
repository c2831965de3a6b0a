// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PreparedClaimTest {

    private static final ContainerEdits EDITS =
            ContainerEdits.builder().env("A", "1").build();
    private static final ProviderState STATE = new ProviderState(1, "{}");
    private static final PreparedDevice DEVICE = PreparedDevice.of(
            AllocatedDevice.builder("gpu", new PoolName("node-a"), new DeviceName("gpu-0"))
                    .build(),
            ContainerEdits.NONE);

    @Test
    void eachSettingKeepsTheOthers() {
        PreparedClaim claim = PreparedClaim.of(List.of(DEVICE)).withEdits(EDITS).withState(STATE);

        assertThat(claim)
                .isEqualTo(PreparedClaim.builder()
                        .devices(List.of(DEVICE))
                        .edits(EDITS)
                        .state(STATE)
                        .build());
        assertThat(claim.withState(STATE).withEdits(EDITS)).isEqualTo(claim);
        assertThat(PreparedClaim.empty()).isEqualTo(PreparedClaim.builder().build());
    }

    @Test
    void aDeviceKeepsWhatWasSetBefore() {
        DeviceStatus status = DeviceStatus.of(new DeviceStatus.Condition("Ready", ConditionStatus.TRUE, "Done", ""));
        DeviceMetadata metadata = new DeviceMetadata(Map.of(), null);

        PreparedDevice device = DEVICE.withStatus(status).withMetadata(metadata).toBuilder()
                .cdiDeviceId("example.com/gpu=0")
                .build();

        assertThat(device)
                .isEqualTo(PreparedDevice.builder(DEVICE.allocated())
                        .cdiDeviceIds(List.of("example.com/gpu=0"))
                        .status(status)
                        .metadata(metadata)
                        .build());
    }

    @Test
    void aStateHasAtMost64Kibi() {
        assertThat(new ProviderState(1, "x".repeat(65_536)).rawJson()).hasSize(65_536);
        assertThatThrownBy(() -> new ProviderState(1, "x".repeat(65_537)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("65537");
    }
}
