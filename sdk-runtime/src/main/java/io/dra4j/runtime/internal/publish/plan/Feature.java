// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

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
public enum Feature {
    /** NoSchedule and NoExecute keep workloads away; None only informs. */
    TAINTS("taints", "DRADeviceTaints", "taints") {
        @Override
        public boolean usedBy(Device device) {
            return !device.taints().isEmpty();
        }

        @Override
        List<Taint> guard(Device device) {
            return device.taints().stream()
                    .filter(taint -> taint.effect() != Effect.NONE)
                    .map(taint -> Taint.of(taint.key(), taint.value(), taint.effect()))
                    .toList();
        }

        @Override
        public Device without(Device device) {
            return device.toBuilder().taints(List.of()).build();
        }

        @Override
        public Device probe() {
            return device().taint(Taint.of(NAME, null, Effect.NO_SCHEDULE)).build();
        }
    },
    /** Counters keep overlapping devices from being allocated together. */
    COUNTERS("counters", "DRAPartitionableDevices", "consumesCounters") {
        @Override
        public boolean usedBy(Device device) {
            return !device.consumesCounters().isEmpty();
        }

        @Override
        List<CounterConsumption> guard(Device device) {
            return device.consumesCounters();
        }

        @Override
        public Device without(Device device) {
            return device.toBuilder().consumesCounters(List.of()).build();
        }

        @Override
        public Device probe() {
            Map<String, Quantity> one = Map.of(NAME, Quantity.of(1));
            return device().consumes(CounterConsumption.of(NAME, one)).build();
        }
    },
    /** Binding conditions keep a pod from a device that is not ready for it. */
    BINDING_CONDITIONS("binding conditions", "DRADeviceBindingConditions", "bindingConditions") {
        @Override
        public boolean usedBy(Device device) {
            return guards(device) || device.bindsToNode();
        }

        @Override
        List<BindingConditions> guard(Device device) {
            return device.binding().equals(BindingConditions.NONE)
                    ? List.of()
                    : List.of(device.binding());
        }

        @Override
        public Device without(Device device) {
            return device.toBuilder().binding(BindingConditions.NONE).bindsToNode(false).build();
        }

        @Override
        public Device probe() {
            return device().binding(new BindingConditions(List.of(NAME), List.of(NAME + "-failed")))
                    .build();
        }
    },
    /** Without it a device is allocated as a whole, which is safe. */
    MULTIPLE_ALLOCATIONS("multiple allocations", "DRAConsumableCapacity", "capacity") {
        @Override
        public boolean usedBy(Device device) {
            return device.allowMultipleAllocations();
        }

        @Override
        public Device without(Device device) {
            Map<String, Capacity> capacities = new LinkedHashMap<>();
            device.capacities()
                    .forEach((key, it) -> capacities.put(key, new Capacity(it.value(), null)));
            return device.toBuilder()
                    .allowMultipleAllocations(false)
                    .capacities(capacities)
                    .build();
        }

        @Override
        public Device probe() {
            return device().allowMultipleAllocations(true).build();
        }
    },
    /** The server leaves out the list, and then refuses the attribute for having no value. */
    LIST_ATTRIBUTES("list attributes", "DRAListTypeAttributes", "attributes") {
        @Override
        public boolean usedBy(Device device) {
            return device.attributes().values().stream().anyMatch(Feature::isList);
        }

        @Override
        public Device without(Device device) {
            Map<String, AttributeValue> scalars = new LinkedHashMap<>(device.attributes());
            scalars.values().removeIf(Feature::isList);
            return device.toBuilder().attributes(scalars).build();
        }

        @Override
        public Device probe() {
            return device().attribute(NAME, new AttributeValue.OfInts(List.of(1L))).build();
        }
    },
    /**
     * Resources that the node has less of while the device is allocated, in the shape of Kubernetes
     * 1.36.
     */
    ALLOCATABLE_MAPPINGS(
            "node allocatable resources",
            "DRANodeAllocatableResources",
            "nodeAllocatableResourceMappings") {
        @Override
        boolean isInOtherShape(Device device) {
            return ALLOCATABLE_RESOURCES.usedBy(device);
        }

        @Override
        public Device probe() {
            return device().capacity(NAME, "1")
                    .rawField(
                            field(),
                            "{\"cpu\":{\"allocationMultiplier\":\"1\",\"capacityKey\":\"probe\"}}")
                    .build();
        }
    },
    /** The same in the shape of Kubernetes 1.37, which does not know the one before. */
    ALLOCATABLE_RESOURCES(
            "node allocatable resources",
            "DRANodeAllocatableResources",
            "nodeAllocatableResources") {
        @Override
        boolean isInOtherShape(Device device) {
            return ALLOCATABLE_MAPPINGS.usedBy(device);
        }

        @Override
        public Device probe() {
            return device().capacity(NAME, "1")
                    .rawField(
                            field(),
                            "{\"cpu\":{\"mapping\":{\"capacityKey\":\"probe\",\"capacityMultiplier\":\"1\"}}}")
                    .build();
        }
    };

    private static final String NAME = "probe";

    private final String label;
    private final String gate;
    private final String field;

    Feature(String label, String gate, String field) {
        this.label = label;
        this.gate = gate;
        this.field = field;
    }

    /** Returns whether the device has this part. */
    public boolean usedBy(Device device) {
        return device.rawFields().containsKey(field);
    }

    /** Returns what of this part keeps the device from being allocated wrongly. */
    List<?> guard(Device device) {
        return List.of();
    }

    /** Returns whether this part of the device keeps it from being allocated wrongly. */
    public final boolean guards(Device device) {
        return !guard(device).isEmpty();
    }

    /** Returns whether a server that was sent one device and kept the other left this part out. */
    public final boolean isLost(Device sent, Device kept) {
        return (usedBy(sent) && !usedBy(kept)) || !guard(sent).equals(guard(kept));
    }

    /** Returns the device as a server with the gate off would keep it. */
    public Device without(Device device) {
        return withoutRawField(device, field);
    }

    /**
     * Returns whether a device without this part has the same in another shape, so that nothing is
     * missing.
     */
    boolean isInOtherShape(Device device) {
        return false;
    }

    /** Returns a device to probe a server with. */
    public abstract Device probe();

    /** The part, in words. */
    @Override
    public String toString() {
        return label;
    }

    /** Returns the name of the feature gate. */
    public String gate() {
        return gate;
    }

    /** Returns the API's field, which an error about this part names. */
    public String field() {
        return field;
    }

    static boolean isList(AttributeValue value) {
        return value instanceof AttributeValue.OfStrings
                || value instanceof AttributeValue.OfInts
                || value instanceof AttributeValue.OfBools
                || value instanceof AttributeValue.OfVersions;
    }

    private static Device withoutRawField(Device device, String field) {
        Map<String, String> rest = new LinkedHashMap<>(device.rawFields());
        rest.remove(field);
        return Device.builder(device.name().value())
                .attributes(device.attributes())
                .capacities(device.capacities())
                .allowMultipleAllocations(device.allowMultipleAllocations())
                .consumesCounters(device.consumesCounters())
                .taints(device.taints())
                .placement(device.placement())
                .binding(device.binding())
                .bindsToNode(device.bindsToNode())
                .rawFields(rest)
                .build();
    }

    private static Device.Builder device() {
        return Device.builder(NAME);
    }
}
