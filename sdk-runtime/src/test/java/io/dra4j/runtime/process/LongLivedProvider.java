// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.List;
import java.util.stream.IntStream;

/** Devices with nothing behind them: as many as one claim can have. */
record LongLivedProvider(String node) implements DeviceProvider {

    static final List<String> DEVICES =
            IntStream.range(0, 32).mapToObj(i -> "gpu-" + i).toList();

    @Override
    public Inventory inventory() {
        return Inventory.of(Pool.ofNode(
                node, DEVICES.stream().map(name -> Device.builder(name).build()).toList()));
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        return PreparedClaim.of(
                claim.devices().stream().map(TestDriverMain::prepared).toList());
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {}
}
