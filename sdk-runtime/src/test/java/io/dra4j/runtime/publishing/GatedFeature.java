// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static io.dra4j.rules.FeatureGate.DRA_CONSUMABLE_CAPACITY;
import static io.dra4j.rules.FeatureGate.DRA_DEVICE_BINDING_CONDITIONS;
import static io.dra4j.rules.FeatureGate.DRA_DEVICE_TAINTS;
import static io.dra4j.rules.FeatureGate.DRA_LIST_TYPE_ATTRIBUTES;
import static io.dra4j.rules.FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES;
import static io.dra4j.rules.FeatureGate.DRA_PARTITIONABLE_DEVICES;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.FeatureGate;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A part of a device that an API server drops in silence while a gate is off. */
enum GatedFeature {
    NO_SCHEDULE(DRA_DEVICE_TAINTS, true, "/taints/0", taint(Taint.Effect.NO_SCHEDULE)),
    NO_EXECUTE(DRA_DEVICE_TAINTS, true, "/taints/0", taint(Taint.Effect.NO_EXECUTE)),
    TAINT_THAT_INFORMS(DRA_DEVICE_TAINTS, false, "/taints/0", taint(Taint.Effect.NONE)),
    COUNTERS(
            DRA_PARTITIONABLE_DEVICES,
            true,
            "/consumesCounters/0",
            device -> device.consumes(CounterConsumption.of("shared", amount(1)))),
    BINDING_CONDITIONS(
            DRA_DEVICE_BINDING_CONDITIONS,
            true,
            "/bindingConditions/0",
            device -> device.binding(new BindingConditions(List.of("a"), List.of("b")))),
    BINDS_TO_NODE(DRA_DEVICE_BINDING_CONDITIONS, false, "/bindsToNode", d -> d.bindsToNode(true)),
    SHARES(
            DRA_CONSUMABLE_CAPACITY,
            false,
            "/allowMultipleAllocations",
            device -> device.allowMultipleAllocations(true)),
    REQUEST_POLICY(
            DRA_CONSUMABLE_CAPACITY,
            false,
            "/capacity/memory/requestPolicy",
            device -> device.allowMultipleAllocations(true)
                    .capacity(
                            "memory",
                            new Capacity(
                                    Quantity.of(1), RequestPolicy.values(Quantity.of(1), List.of(Quantity.of(1)))))),
    /** Cores of the node's allocatable CPUs, in the shapes of Kubernetes 1.36 and of 1.37. */
    ALLOCATABLE(
            DRA_NODE_ALLOCATABLE_RESOURCES,
            false,
            "/nodeAllocatableResourceMappings/cpu/capacityKey",
            device -> device.capacity("example.com/cpu", Capacity.of(8))
                    .nodeAllocatableResource(
                            "cpu",
                            NodeAllocatableResource.builder()
                                    .mapping(new NodeAllocatableResource.OfCapacity("example.com/cpu", Quantity.of(1)))
                                    .mayBeLeftOut(true)
                                    .build())),
    LIST(
            DRA_LIST_TYPE_ATTRIBUTES,
            false,
            "/attributes/list",
            device -> device.attribute("list", new AttributeValue.OfInts(List.of(1L))));

    final FeatureGate gate;

    /** True if the device must not be published without it. */
    final boolean guards;

    private final String field;
    private final UnaryOperator<Device.Builder> add;

    GatedFeature(FeatureGate gate, boolean guards, String field, UnaryOperator<Device.Builder> add) {
        this.gate = gate;
        this.guards = guards;
        this.field = field;
        this.add = add;
    }

    private static UnaryOperator<Device.Builder> taint(Taint.Effect effect) {
        return device -> device.taint(Taint.of("example.com/t", null, effect));
    }

    private static Map<String, Quantity> amount(int amount) {
        return Map.of("memory", Quantity.of(amount));
    }

    Device addTo(Device device) {
        return add.apply(device.toBuilder()).build();
    }

    boolean isIn(JsonNode device) {
        return !device.at(field).isMissingNode();
    }

    /** A pool of one device with this feature between two without. */
    Pool pool(String name) {
        return poolOf(name, plain("first"), addTo(plain("special")), plain("last"));
    }

    static Pool poolOf(String name, Device... devices) {
        return Pool.ofNode(name, List.of(devices)).withCounterSets(List.of(CounterSet.of("shared", amount(10))));
    }

    static Device plain(String name) {
        return Device.builder(name).attribute("model", "m").build();
    }
}
