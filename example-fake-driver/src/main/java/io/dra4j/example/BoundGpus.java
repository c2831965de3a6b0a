// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceBinder.AwaitedDevice;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.Truth;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Pool;
import java.util.List;

/**
 * Lets the scheduler wait until each GPU is ready, which fake GPUs are at once.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5007-device-attach-before-pod-scheduled">
 *     KEP-5007</a>
 */
final class BoundGpus extends DecoratedGpus {

    private static final BindingConditions CONDITIONS =
            new BindingConditions(
                    List.of("BindingConditions"), List.of("BindingFailureConditions"));

    BoundGpus(DeviceProvider gpus) {
        super(gpus);
    }

    @Override
    Pool decorate(Pool pool) {
        return new Pool(
                pool.name(),
                pool.placement(),
                pool.devices().stream()
                        .map(gpu -> gpu.toBuilder().binding(CONDITIONS).build())
                        .toList(),
                pool.counterSets());
    }

    static List<Condition> ready(AwaitedDevice gpu) {
        return gpu.binding().conditions().stream()
                .map(type -> new Condition(type, Truth.TRUE, "Ready", "Device is ready"))
                .toList();
    }
}
