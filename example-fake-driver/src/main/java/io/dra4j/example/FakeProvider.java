// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.List;

/**
 * A base class for fake devices other than GPUs. It offers one pool, named after the node, and sets environment
 * variables that name the devices in containers.
 *
 * <p>Immutable, and therefore thread-safe; for equal input the results are equal.
 */
abstract class FakeProvider implements DeviceProvider {

    private final String driverName;
    private final String nodeName;
    private final String variables;

    /** Offers devices whose variables begin with {@code variables}, such as {@code CPU_DEVICE_}. */
    FakeProvider(String driverName, String nodeName, String variables) {
        this.driverName = driverName;
        this.nodeName = nodeName;
        this.variables = variables;
    }

    abstract List<Device> devices();

    /** Adds the variables of a device other than its name, claim and admin access. */
    abstract void describe(AllocatedDevice device, String variable, ContainerEdits.Builder edits);

    @Override
    public final Inventory inventory() {
        return Inventory.of(Pool.ofNode(nodeName, devices()));
    }

    @Override
    public final PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        List<PreparedDevice> prepared = claim.devices().stream()
                .map(device -> PreparedDevice.of(device, edits(device, claim)))
                .toList();
        ContainerEdits everyContainer = ContainerEdits.builder()
                .env("KUBERNETES_NODE_NAME", nodeName)
                .env("DRA_RESOURCE_DRIVER_NAME", driverName)
                .build();
        return PreparedClaim.of(prepared).withEdits(everyContainer);
    }

    @Override
    public final boolean changesNothing(AllocatedClaim claim) {
        return true;
    }

    private ContainerEdits edits(AllocatedDevice device, AllocatedClaim claim) {
        String name = device.device().value();
        String variable = variables + name.substring(name.lastIndexOf('-') + 1);
        ContainerEdits.Builder edits = ContainerEdits.builder()
                .env(variable, name)
                .env(variable + "_RESOURCE_CLAIM", claim.ref().uid());
        describe(device, variable, edits);
        if (device.adminAccess()) {
            edits.env("DRA_ADMIN_ACCESS", "true");
        }
        return edits.build();
    }

    @Override
    public final void unprepare(HeldClaim claim, ClaimContext context) {
        // Environment variables end with the container that has them.
    }
}
