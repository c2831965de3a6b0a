// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import org.jspecify.annotations.Nullable;

/** The rules for capacities of a device. */
final class CapacityRules {

    private CapacityRules() {}

    static void check(Field field, Device device) {
        Field capacities = field.child("capacity");
        device.capacities()
                .forEach(
                        (name, capacity) -> {
                            Field here = capacities.key(name);
                            Names.qualifiedName(here, name);
                            check(here, capacity, device.allowMultipleAllocations());
                        });
    }

    private static void check(Field field, @Nullable Capacity capacity, boolean shared) {
        if (!field.requires(capacity)) {
            return;
        }
        boolean hasValue = Amounts.isKept(field.child("value"), capacity.value());
        if (capacity.requestPolicy() == null) {
            return;
        }
        Field policy = field.child("requestPolicy");
        if (!shared) {
            policy.refuse(
                    "must be absent from a device that does not allow multiple allocations",
                    capacity.requestPolicy());
        } else if (hasValue) {
            PolicyRules.check(policy, capacity.value(), capacity.requestPolicy());
        }
    }
}
