// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.stream.IntStream;

/**
 * The devices of a hosted node: one pool, of devices with the attributes that a GPU has as a rule.
 *
 * @param node the node, after which the pool is named
 * @param devices how many there are
 */
record HostedDevices(String node, int devices) implements DeviceProvider {

    @Override
    public Inventory inventory() {
        return Inventory.of(Pool.ofNode(
                node, IntStream.range(0, devices).mapToObj(this::device).toList()));
    }

    private Device device(int number) {
        return Device.builder("device-" + number)
                .attribute("uuid", "GPU-%s-%08x".formatted(node, number))
                .attribute("productName", "Hosted device")
                .attribute("index", number)
                .version("driverVersion", "1.0.0")
                .capacity("memory", "80Gi")
                .build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        return PreparedClaim.of(claim.devices().stream()
                .map(device -> PreparedDevice.of(
                        device,
                        ContainerEdits.builder()
                                .env("DEVICE", device.device().value())
                                .build()))
                .toList());
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {
        // an environment variable ends with the container that has it
    }
}
