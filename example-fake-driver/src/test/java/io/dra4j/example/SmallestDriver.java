// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

// #region readme
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.DriverMain;
import java.util.List;

/** One FPGA, and a container that got it sees /dev/fpga-0. */
record SmallestDriver(String node) implements DeviceProvider {
    public Inventory inventory() {
        return Inventory.of(Pool.ofNode(node, List.of(Device.builder("fpga-0").build())));
    }

    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        return PreparedClaim.of(
                claim.devices().stream().map(SmallestDriver::prepare).toList());
    }

    static PreparedDevice prepare(AllocatedDevice device) {
        DeviceNode file = DeviceNode.of("/dev/" + device.device());
        return PreparedDevice.of(
                device, ContainerEdits.builder().deviceNode(file).build());
    }

    public void unprepare(HeldClaim claim, ClaimContext context) {} // nothing to undo

    public static void main(String[] args) {
        DriverMain.run(args, "fpga.example.com", o -> new SmallestDriver(o.nodeName()));
    }
}
// #endregion readme
