// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.Mapping;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.Quantity;

/** The rules for what an allocation of a device takes of the node's native resources. */
final class NodeAllocatableRules {

    private NodeAllocatableRules() {}

    static void check(Field device, Device checked) {
        Field resources = device.child("nodeAllocatableResources");
        checked.nodeAllocatableResources()
                .forEach((name, it) -> check(resources.key(name), checked, name, it));
    }

    private static void check(
            Field field, Device device, String name, NodeAllocatableResource resource) {
        Names.labelName(field, name);
        if (name.contains("/") && !name.startsWith("kubernetes.io/")) {
            field.refuse("must be a native resource of nodes, such as cpu or memory", name);
        }
        if (resource.mapping() == null && resource.overhead() == null) {
            field.refuse("must have a mapping or an overhead", resource);
        }
        if (resource.mapping() != null) {
            mapping(field.child("mapping"), device, resource.mapping());
        }
        if (resource.overhead() != null) {
            overhead(field.child("overhead"), resource.overhead());
        }
    }

    private static void mapping(Field field, Device device, Mapping mapping) {
        if (mapping instanceof OfCapacity ofCapacity) {
            if (!device.capacities().containsKey(ofCapacity.capacityKey())) {
                field.child("capacityKey")
                        .refuse("must be a capacity of the device", ofCapacity.capacityKey());
            }
            isPositive(field.child("capacityMultiplier"), ofCapacity.multiplier());
        } else if (mapping instanceof OfDevice ofDevice) {
            isPositive(field.child("deviceMultiplier"), ofDevice.multiplier());
        }
    }

    private static void isPositive(Field field, Quantity amount) {
        if (Amounts.isKeptAndNotNegative(field, amount) && amount.amount().signum() == 0) {
            field.refuse("must be greater than 0", amount);
        }
    }

    private static void overhead(Field field, Overhead overhead) {
        if (overhead.perPod() == null && overhead.perContainer() == null) {
            field.refuse("must have perPod or perContainer", overhead);
        }
        if (overhead.perPod() != null) {
            Amounts.isKeptAndNotNegative(field.child("perPod"), overhead.perPod());
        }
        if (overhead.perContainer() != null) {
            Amounts.isKeptAndNotNegative(field.child("perContainer"), overhead.perContainer());
        }
    }
}
