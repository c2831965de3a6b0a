// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** Rules for what a device takes of the node's allocatable resources, in both shapes. */
final class NodeAllocatableRules {
    private static final String POSITIVE = "must be greater than zero";

    private NodeAllocatableRules() {}

    static void check(Field device) {
        Field mappings = device.at("nodeAllocatableResourceMappings");
        for (String name : mappings.keys()) {
            checkName(name, mappings.key(name));
            checkMapping136(device, mappings.key(name));
        }
        Field resources = device.at("nodeAllocatableResources");
        for (String name : resources.keys()) {
            checkName(name, resources.key(name));
            checkResource(device, resources.key(name));
        }
    }

    private static void checkName(String name, Field resource) {
        boolean isNative = !name.contains("/") || name.startsWith("kubernetes.io/");
        resource.requireThat(isNative, name, "must be a native resource name");
    }

    /** The shape of 1.36, which the next release does not know any more. */
    private static void checkMapping136(Field device, Field mapping) {
        requireSign(mapping.at("allocationMultiplier"), 1, POSITIVE);
        Field key = mapping.at("capacityKey");
        boolean known = key.text().isEmpty() || isCapacity(device, key);
        key.requireThat(known, "must be a key of the device's capacity");
    }

    private static void checkResource(Field device, Field resource) {
        Field mapping = resource.at("mapping");
        Field overhead = resource.at("overhead");
        if (!mapping.present() && !overhead.present()) {
            resource.required("at least one of `mapping` and `overhead` must be set");
        }
        if (mapping.present()) {
            checkMapping(device, mapping);
        }
        if (overhead.present()) {
            checkOverhead(overhead);
        }
    }

    private static void checkMapping(Field device, Field mapping) {
        Field key = mapping.at("capacityKey");
        Field ofCapacity = mapping.at("capacityMultiplier");
        Field ofDevice = mapping.at("deviceMultiplier");
        boolean one = key.present() != ofDevice.present();
        String rule = "exactly one of `capacityKey` and `deviceMultiplier` must be set";
        mapping.requireThat(one || ofCapacity.present() && !key.present(), "", rule);
        if (key.present() && key.text().isEmpty()) {
            key.invalid("must not be empty");
        } else if (key.present() && !isCapacity(device, key)) {
            key.errors().notFound(key.path(), key.text());
        }
        if (key.present() && !ofCapacity.present()) {
            ofCapacity.required("required when `capacityKey` is set");
        } else if (ofCapacity.present() && !key.present()) {
            key.required("required when `capacityMultiplier` is set");
        }
        requireSign(ofCapacity, 1, POSITIVE);
        requireSign(ofDevice, 1, POSITIVE);
    }

    private static void checkOverhead(Field overhead) {
        Field perPod = overhead.at("perPod");
        Field perContainer = overhead.at("perContainer");
        boolean any = perPod.present() || perContainer.present();
        overhead.requireThat(any, "", "at least one of `perPod` and `perContainer` must be set");
        requireSign(perPod, 0, "must be greater than or equal to zero");
        requireSign(perContainer, 0, "must be greater than or equal to zero");
    }

    private static boolean isCapacity(Field device, Field key) {
        return device.at("capacity").value().has(key.text());
    }

    private static void requireSign(Field quantity, int least, String rule) {
        boolean fits = !quantity.present() || Quantities.exact(quantity.text()).signum() >= least;
        quantity.requireThat(fits, rule);
    }
}
