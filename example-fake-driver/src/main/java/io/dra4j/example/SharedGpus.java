// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static java.util.Locale.ROOT;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.util.TreeMap;

/**
 * Lets several claims share each GPU: a claim requests memory and compute, and takes all by default.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 */
final class SharedGpus extends DecoratedDevices {

    private static final Quantity GIBI = new Quantity("1Gi");

    SharedGpus(DeviceProvider gpus) {
        super(gpus);
    }

    /** Returns the least amount of a capacity that can be taken: 1Gi of bytes, 1 of anything else. */
    static Quantity unit(Quantity whole) {
        return whole.compareTo(GIBI) < 0 ? Quantity.of(1) : GIBI;
    }

    @Override
    Device decorate(Device gpu) {
        Device.Builder shared = gpu.toBuilder().allowMultipleAllocations(true);
        gpu.capacities().forEach((name, whole) -> shared.capacity(name, inParts(whole.value())));
        return shared.build();
    }

    /** The server refuses a step beyond the capacity. */
    private static Capacity inParts(Quantity whole) {
        Quantity unit = unit(whole);
        ValidRange parts = new ValidRange(unit, whole, unit.compareTo(whole) < 0 ? unit : null);
        return new Capacity(whole, RequestPolicy.range(whole, parts));
    }

    /** Adds how much of the GPU the claim has, for instance {@code GPU_DEVICE_3_MEMORY=10Gi}. */
    @Override
    PreparedDevice decorate(PreparedDevice prepared) {
        AllocatedDevice gpu = prepared.allocated();
        ContainerEdits.Builder edits = ContainerEdits.builder();
        prepared.edits().env().forEach(edits::env); // a fake GPU has only environment variables
        String variable = FakeGpuProvider.variable(gpu.device());
        new TreeMap<>(gpu.consumedCapacity())
                .forEach((name, amount) -> edits.env(variable + "_" + name.toUpperCase(ROOT), amount.text()));
        return PreparedDevice.of(gpu, edits.build());
    }
}
