// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Device;
import java.util.List;

/**
 * Lets the scheduler wait until each device is ready, which fake devices are immediately.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5007-device-attach-before-pod-scheduled">
 *     KEP-5007</a>
 */
final class BoundDevices extends DecoratedDevices {

    private static final BindingConditions CONDITIONS =
            new BindingConditions(List.of("BindingConditions"), List.of("BindingFailureConditions"));

    BoundDevices(DeviceProvider devices) {
        super(devices);
    }

    @Override
    Device decorate(Device device) {
        return device.toBuilder().binding(CONDITIONS).build();
    }

    static List<Condition> ready(PendingDevice device) {
        return device.binding().conditions().stream()
                .map(type -> new Condition(type, ConditionStatus.TRUE, "Ready", "Device is ready"))
                .toList();
    }
}
