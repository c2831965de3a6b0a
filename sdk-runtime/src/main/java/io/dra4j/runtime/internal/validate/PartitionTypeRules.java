// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;

/** The rules for the attribute that names the types of a pool's partitions. */
final class PartitionTypeRules {

    private static final String FIELD = "partitionTypeAttribute";

    private PartitionTypeRules() {}

    static void check(Findings findings, Pool pool) {
        String name = pool.partitionTypeAttribute();
        if (name == null) {
            return;
        }
        Field field = Field.ofPool(findings, FIELD);
        Names.qualifiedName(field, name);
        int slash = name.indexOf('/');
        if (slash < 0) {
            field.refuse("must have its domain, such as gpu.example.com/profile", name);
            return;
        }
        for (Device device : pool.devices()) {
            if (!findings.isFull() && !device.consumesCounters().isEmpty()) {
                check(Field.ofDevice(findings, device.name()), device, name);
            }
        }
    }

    /** An attribute of the driver's domain may also stand without it. */
    private static void check(Field device, Device checked, String name) {
        AttributeValue value = checked.attributes().get(name);
        String bare = name.substring(name.indexOf('/') + 1);
        if (value == null) {
            value = checked.attributes().get(bare);
        }
        if (!(value instanceof AttributeValue.OfString)) {
            device.child("attributes")
                    .key(name)
                    .refuse(
                            "must be a string attribute, because the device consumes counters and"
                                    + " the pool's partitionTypeAttribute names it",
                            value);
        }
    }
}
