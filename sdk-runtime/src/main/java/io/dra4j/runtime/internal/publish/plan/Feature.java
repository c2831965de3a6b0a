// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.rules.FeatureGate;
import io.dra4j.runtime.internal.cluster.NodeAllocatableCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A part of a device or a pool that an API server does not keep while its feature gate is off.
 *
 * <p>Some parts guard the device: without them it could be allocated twice, or to a workload that must not have it. A
 * device whose guard the server leaves out must not be published at all. The publisher and the documentation read gates
 * only from this table: field, gate, releases, what happens to the device, and how the loss is found.
 */
public enum Feature {
    /** NoSchedule and NoExecute keep workloads away; None only informs. */
    TAINTS("taints", Gate.of(FeatureGate.DRA_DEVICE_TAINTS), "taints") {
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
    COUNTERS("counters", Gate.of(FeatureGate.DRA_PARTITIONABLE_DEVICES), "consumesCounters") {
        @Override
        List<CounterConsumption> guard(Device device) {
            return ConsumedCounters.amounts(device);
        }

        @Override
        public boolean usedBy(Pool pool) {
            return !pool.counterSets().isEmpty() || super.usedBy(pool);
        }

        @Override
        Pool without(Pool pool) {
            return super.without(pool).toBuilder().counterSets(List.of()).build();
        }

        @Override
        public boolean isLost(Content sent, Content kept) {
            return super.isLost(sent, kept)
                    || (!sent.counterSets().isEmpty() && kept.counterSets().isEmpty());
        }

        @Override
        public Device without(Device device) {
            return device.toBuilder().consumesCounters(List.of()).build();
        }

        @Override
        public Device probe() {
            return device().consumes(probeCounter().build()).build();
        }
    },
    /** Binding conditions keep a pod from a device that is not ready for it. */
    BINDING_CONDITIONS("binding conditions", Gate.of(FeatureGate.DRA_DEVICE_BINDING_CONDITIONS), "bindingConditions") {
        @Override
        public boolean usedBy(Device device) {
            return guards(device) || device.bindsToNode();
        }

        @Override
        List<BindingConditions> guard(Device device) {
            return device.binding().equals(BindingConditions.NONE) ? List.of() : List.of(device.binding());
        }

        @Override
        public Device without(Device device) {
            return device.toBuilder()
                    .binding(BindingConditions.NONE)
                    .bindsToNode(false)
                    .build();
        }

        @Override
        public Device probe() {
            return device().binding(new BindingConditions(List.of(NAME), List.of(NAME + "-failed")))
                    .build();
        }
    },
    /** Without it a device is allocated as a whole, which is safe. */
    MULTIPLE_ALLOCATIONS("multiple allocations", Gate.of(FeatureGate.DRA_CONSUMABLE_CAPACITY), "capacity") {
        @Override
        public boolean usedBy(Device device) {
            return device.allowMultipleAllocations();
        }

        @Override
        public Device without(Device device) {
            Map<String, Capacity> capacities = new LinkedHashMap<>();
            device.capacities().forEach((key, it) -> capacities.put(key, new Capacity(it.value(), null)));
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
    LIST_ATTRIBUTES("list attributes", Gate.of(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES), "attributes") {
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
            return device().attribute(NAME, new AttributeValue.OfInts(List.of(1L)))
                    .build();
        }
    },
    /** A server without it rounds amounts up to whole numbers, and then refuses the policy. */
    FRACTIONAL_POLICIES(
            "request policies in fractions", Gate.of(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE), "requestPolicy") {
        @Override
        public boolean usedBy(Device device) {
            return FractionalPolicies.areIn(device);
        }

        @Override
        public Device without(Device device) {
            return MULTIPLE_ALLOCATIONS.without(device);
        }

        @Override
        public Device probe() {
            Quantity step = new Quantity("1500m");
            ValidRange range = new ValidRange(Quantity.of(0), Quantity.of(3), step);
            return device().allowMultipleAllocations(true)
                    .capacity(NAME, new Capacity(Quantity.of(3), RequestPolicy.range(step, range)))
                    .build();
        }
    },
    /** Groups separate devices that can't be set up together. */
    COMPATIBILITY_GROUPS(
            "compatibility groups", Gate.of(FeatureGate.DRA_DEVICE_COMPATIBILITY_GROUPS), "compatibilityGroups") {
        @Override
        List<Map.Entry<String, List<String>>> guard(Device device) {
            return device.consumesCounters().stream()
                    .filter(consumption -> !consumption.compatibilityGroups().isEmpty())
                    .map(consumption -> Map.entry(consumption.counterSet(), consumption.compatibilityGroups()))
                    .toList();
        }

        @Override
        public Device without(Device device) {
            return ConsumedCounters.of(device, ConsumedCounters::withoutGroups);
        }

        @Override
        public Device probe() {
            return device().consumes(probeCounter().compatibilityGroup(NAME).build())
                    .build();
        }
    },
    /** Without it, a device that consumes a requested amount of a counter consumes nothing (KEP 5941). */
    AMOUNTS_BY_REQUEST(
            "amounts of counters by request", Gate.of(FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY), "valueFrom") {
        @Override
        List<Map<String, String>> guard(Device device) {
            return device.consumesCounters().stream()
                    .map(CounterConsumption::rawFields)
                    .filter(fields -> !fields.isEmpty())
                    .toList();
        }

        @Override
        public Device without(Device device) {
            return ConsumedCounters.of(device, ConsumedCounters::withoutRequests);
        }

        @Override
        public Device probe() {
            return device().allowMultipleAllocations(true)
                    .capacity(NAME, "1")
                    .consumes(CounterConsumption.builder(NAME)
                            .rawFields(NAME, "{\"valueFrom\":{\"capacityName\":\"probe\"}}")
                            .build())
                    .build();
        }
    },
    /** A mapping in the shape of Kubernetes 1.36: a server of 1.37 is sent the next one. */
    ALLOCATABLE_MAPPINGS(
            "node allocatable resources",
            Gate.of(FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES).until(36),
            NodeAllocatableCodec.MAPPINGS) {
        @Override
        boolean isInOtherShape(Device device) {
            return ALLOCATABLE_RESOURCES.usedBy(device);
        }

        @Override
        public Device probe() {
            return device().capacity(NAME, "1")
                    .rawField(field(), "{\"cpu\":{\"allocationMultiplier\":\"1\",\"capacityKey\":\"probe\"}}")
                    .build();
        }
    },
    /** Mapping and overhead in the shape of Kubernetes 1.37. */
    ALLOCATABLE_RESOURCES(
            "node allocatable resources",
            Gate.of(FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES).since(37),
            NodeAllocatableCodec.RESOURCES) {
        @Override
        boolean isInOtherShape(Device device) {
            return ALLOCATABLE_MAPPINGS.usedBy(device)
                    && device.nodeAllocatableResources().values().stream()
                            .allMatch(resource -> resource.overhead() == null);
        }

        @Override
        boolean withholds(Pool pool, Device device, Set<Feature> missing) {
            return device.nodeAllocatableResources().values().stream()
                    .filter(resource -> !resource.mayBeLeftOut())
                    .anyMatch(resource -> resource.overhead() != null || missing.contains(ALLOCATABLE_MAPPINGS));
        }

        @Override
        public Device probe() {
            return device().capacity(NAME, "1")
                    .rawField(
                            field(), "{\"cpu\":{\"mapping\":{\"capacityKey\":\"probe\",\"capacityMultiplier\":\"1\"}}}")
                    .build();
        }
    },
    /** Tools count partitions by it; no allocation depends on it. */
    PARTITION_TYPE(
            "partition type attribute", Gate.of(FeatureGate.DRA_PARTITIONABLE_DEVICES_TYPE), "partitionTypeAttribute") {
        @Override
        public boolean usedBy(Pool pool) {
            return pool.partitionTypeAttribute() != null
                    && pool.devices().stream().anyMatch(COUNTERS::usedBy);
        }

        @Override
        public boolean usedBy(Content content) {
            return content.partitionTypeAttribute() != null;
        }

        @Override
        boolean leavesOutOf(Pool pool, Device device) {
            return usedBy(pool) && COUNTERS.usedBy(device);
        }

        @Override
        Pool without(Pool pool) {
            return pool.toBuilder().partitionTypeAttribute(null).build();
        }

        @Override
        public Device probe() {
            return device().attribute(TYPE, NAME)
                    .consumes(probeCounter().build())
                    .build();
        }

        @Override
        public Content probeIn(Content slice) {
            return slice.with(TYPE, List.of());
        }
    },
    /** Without it a kubelet waits for a driver that is not on the node. */
    SKIP_NODE_OPERATIONS(
            "node operations to skip", Gate.of(FeatureGate.DRA_OPTIONAL_NODE_OPERATIONS), "skipNodeOperations") {
        @Override
        public boolean usedBy(Pool pool) {
            return !pool.skipNodeOperations().isEmpty();
        }

        @Override
        public boolean usedBy(Content content) {
            return !content.skipNodeOperations().isEmpty();
        }

        @Override
        boolean withholds(Pool pool, Device device, Set<Feature> missing) {
            return usedBy(pool);
        }

        @Override
        Pool without(Pool pool) {
            return pool.toBuilder().skipNodeOperations(Set.of()).build();
        }

        @Override
        public Device probe() {
            return device().build();
        }

        @Override
        public Content probeIn(Content slice) {
            return slice.with(null, List.of(NodeOperation.ALL.apiName()));
        }
    };

    private static final String NAME = "probe";
    private static final String TYPE = "example.com/probe";

    private final String label;
    private final Gate gate;
    private final String field;

    Feature(String label, Gate gate, String field) {
        this.label = label;
        this.gate = gate;
        this.field = field;
    }

    public boolean usedBy(Device device) {
        return guards(device) || device.rawFields().containsKey(field);
    }

    /** Returns whether the pool has this part, itself or in a device. */
    public boolean usedBy(Pool pool) {
        return pool.devices().stream().anyMatch(this::usedBy);
    }

    /** Returns whether a slice has this part, itself or in a device. */
    public boolean usedBy(Content content) {
        return content.devices().stream().anyMatch(this::usedBy);
    }

    /** Returns the values of this part that keep the device from being allocated wrongly. */
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

    /** Returns whether a server that was sent one slice and kept the other left this part out. */
    public boolean isLost(Content sent, Content kept) {
        Map<DeviceName, Device> keptDevices =
                kept.devices().stream().collect(Collectors.toMap(Device::name, Function.identity(), (a, b) -> a));
        return (usedBy(sent) && !usedBy(kept))
                || sent.devices().stream().anyMatch(it -> isLost(it, keptDevices.getOrDefault(it.name(), it)));
    }

    /**
     * Returns whether a device must not be published.
     *
     * @param missing all parts that the server does not keep, including this one
     */
    boolean withholds(Pool pool, Device device, Set<Feature> missing) {
        return guards(device);
    }

    /** Returns whether a device that is still published loses something. */
    boolean leavesOutOf(Pool pool, Device device) {
        return usedBy(device) && !isInOtherShape(device);
    }

    /** Returns the pool as a server with the gate off would keep it. */
    Pool without(Pool pool) {
        return pool.toBuilder()
                .devices(pool.devices().stream()
                        .map(device -> usedBy(device) ? without(device) : device)
                        .toList())
                .build();
    }

    /** Returns the device as a server with the gate off would keep it. */
    public Device without(Device device) {
        Map<String, String> rest = new LinkedHashMap<>(device.rawFields());
        rest.remove(field);
        return device.toBuilder().rawFields(rest).build();
    }

    /** Returns whether a device without this part has the same in another shape, so that nothing is missing. */
    boolean isInOtherShape(Device device) {
        return false;
    }

    public abstract Device probe();

    /** Returns a slice with the device to probe a server with. */
    public Content probeIn(Content slice) {
        return slice;
    }

    @Override
    public String toString() {
        return label;
    }

    public Gate gate() {
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

    private static CounterConsumption.Builder probeCounter() {
        return CounterConsumption.builder(NAME).counter(NAME, 1);
    }

    private static Device.Builder device() {
        return Device.builder(NAME);
    }
}
