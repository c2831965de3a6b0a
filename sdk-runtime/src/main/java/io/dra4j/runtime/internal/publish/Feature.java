// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A part of a device that an API server leaves out, without a word, while its feature gate is off.
 *
 * <p>Some parts guard the device: without them it could be allocated twice, or to a workload that
 * must not have it. A device whose guard the server leaves out must not be published at all.
 */
enum Feature {
    /** NoSchedule and NoExecute keep workloads away; None only informs. */
    TAINTS("taints", "DRADeviceTaints") {
        @Override
        boolean usedBy(Device device) {
            return !device.taints().isEmpty();
        }

        @Override
        boolean guards(Device device) {
            return device.taints().stream().anyMatch(taint -> taint.effect() != Effect.NONE);
        }

        @Override
        Device without(Device device) {
            return device.toBuilder().taints(List.of()).build();
        }

        @Override
        Device probe() {
            return device().taint(Taint.of(NAME, null, Effect.NO_SCHEDULE)).build();
        }
    },
    /** Counters keep overlapping devices from being allocated together. */
    COUNTERS("counters", "DRAPartitionableDevices") {
        @Override
        boolean usedBy(Device device) {
            return !device.consumesCounters().isEmpty();
        }

        @Override
        boolean guards(Device device) {
            return usedBy(device);
        }

        @Override
        Device without(Device device) {
            return device.toBuilder().consumesCounters(List.of()).build();
        }

        @Override
        Device probe() {
            Map<String, Quantity> one = Map.of(NAME, Quantity.of(1));
            return device().consumes(new CounterConsumption(NAME, one)).build();
        }
    },
    /** Binding conditions keep a pod from a device that is not ready for it. */
    BINDING_CONDITIONS("binding conditions", "DRADeviceBindingConditions") {
        @Override
        boolean usedBy(Device device) {
            return guards(device) || device.bindsToNode();
        }

        @Override
        boolean guards(Device device) {
            return !device.binding().equals(BindingConditions.NONE);
        }

        @Override
        Device without(Device device) {
            return device.toBuilder().binding(BindingConditions.NONE).bindsToNode(false).build();
        }

        @Override
        Device probe() {
            return device().binding(new BindingConditions(List.of(NAME), List.of(NAME + "-failed")))
                    .build();
        }
    },
    /** Without it a device is allocated as a whole, which is safe. */
    MULTIPLE_ALLOCATIONS("multiple allocations", "DRAConsumableCapacity") {
        @Override
        boolean usedBy(Device device) {
            return device.allowMultipleAllocations();
        }

        @Override
        Device without(Device device) {
            Map<String, Capacity> capacities = new LinkedHashMap<>();
            device.capacities()
                    .forEach((key, it) -> capacities.put(key, new Capacity(it.value(), null)));
            return device.toBuilder()
                    .allowMultipleAllocations(false)
                    .capacities(capacities)
                    .build();
        }

        @Override
        Device probe() {
            return device().allowMultipleAllocations(true).build();
        }
    },
    /** The server leaves out the list, and then refuses the attribute for having no value. */
    LIST_ATTRIBUTES("list attributes", "DRAListTypeAttributes") {
        @Override
        boolean usedBy(Device device) {
            return device.attributes().values().stream().anyMatch(Feature::isList);
        }

        @Override
        Device without(Device device) {
            Map<String, AttributeValue> scalars = new LinkedHashMap<>(device.attributes());
            scalars.values().removeIf(Feature::isList);
            return device.toBuilder().attributes(scalars).build();
        }

        @Override
        Device probe() {
            return device().attribute(NAME, new AttributeValue.OfInts(List.of(1L))).build();
        }
    };

    private static final String NAME = "probe";

    private final String label;
    private final String gate;

    Feature(String label, String gate) {
        this.label = label;
        this.gate = gate;
    }

    /** Tells whether the device has this part. */
    abstract boolean usedBy(Device device);

    /** Tells whether this part of the device keeps it from being allocated wrongly. */
    boolean guards(Device device) {
        return false;
    }

    /** Returns the device as a server with the gate off would keep it. */
    abstract Device without(Device device);

    /** Returns a device to ask a server with. */
    abstract Device probe();

    /** The part, in words. */
    @Override
    public String toString() {
        return label;
    }

    /** Returns the name of the feature gate. */
    String gate() {
        return gate;
    }

    static boolean isList(AttributeValue value) {
        return value instanceof AttributeValue.OfStrings
                || value instanceof AttributeValue.OfInts
                || value instanceof AttributeValue.OfBools
                || value instanceof AttributeValue.OfVersions;
    }

    private static Device.Builder device() {
        return Device.builder(NAME);
    }
}
