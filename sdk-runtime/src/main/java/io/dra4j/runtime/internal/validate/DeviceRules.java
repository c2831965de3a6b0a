// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import org.jspecify.annotations.Nullable;

/** One device: the rules in the order of its fields. */
record DeviceRules(@Nullable Placement pool, CounterRules counters) {

    void check(Field field, Device device) {
        AttributeRules.check(field, device);
        CapacityRules.check(field, device);
        counters.check(field.child("consumesCounters"), device.consumesCounters());
        TaintRules.check(field.child("taints"), device.taints());
        PlacementRules.ofDevice(field, pool, device.placement());
        BindingRules.check(field, device.binding());
        NodeAllocatableRules.check(field, device);
        RawFieldRules.check(field, device.rawFields());
    }
}
