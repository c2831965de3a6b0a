// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import static io.dra4j.testkit.apiserver.model.FeatureGate.Stage.ABSENT;
import static io.dra4j.testkit.apiserver.model.FeatureGate.Stage.OFF;
import static io.dra4j.testkit.apiserver.model.FeatureGate.Stage.ON;

/**
 * The feature gates that decide which fields the server keeps, with their defaults from 1.34 to
 * 1.37.
 *
 * <p>A gate that a release does not know is off there and cannot be set: the field behind it does
 * not exist.
 */
public enum FeatureGate {
    DRA_RESOURCE_CLAIM_DEVICE_STATUS("DRAResourceClaimDeviceStatus", ON, ON, ON, ON),
    DRA_PARTITIONABLE_DEVICES("DRAPartitionableDevices", OFF, OFF, ON, ON),
    DRA_PARTITIONABLE_DEVICES_TYPE("DRAPartitionableDevicesType", ABSENT, ABSENT, ABSENT, OFF),
    DRA_DEVICE_TAINTS("DRADeviceTaints", OFF, OFF, ON, ON),
    DRA_CONSUMABLE_CAPACITY("DRAConsumableCapacity", OFF, OFF, ON, ON),
    DRA_DEVICE_BINDING_CONDITIONS("DRADeviceBindingConditions", OFF, OFF, ON, ON),
    DRA_EXTENDED_RESOURCE("DRAExtendedResource", OFF, OFF, ON, ON),
    DRA_LIST_TYPE_ATTRIBUTES("DRAListTypeAttributes", ABSENT, ABSENT, OFF, OFF),
    DRA_NODE_ALLOCATABLE_RESOURCES("DRANodeAllocatableResources", ABSENT, ABSENT, OFF, OFF),
    DRA_OPTIONAL_NODE_OPERATIONS("DRAOptionalNodeOperations", ABSENT, ABSENT, ABSENT, OFF),
    DRA_DEVICE_COMPATIBILITY_GROUPS("DRADeviceCompatibilityGroups", ABSENT, ABSENT, ABSENT, OFF);

    enum Stage {
        ABSENT,
        OFF,
        ON
    }

    private final String text;
    private final Stage[] stages;

    FeatureGate(String text, Stage... stages) {
        this.text = text;
        this.stages = stages;
    }

    /** The name as {@code --feature-gates} spells it. */
    public String text() {
        return text;
    }

    public boolean existsIn(KubernetesVersion version) {
        return stage(version) != ABSENT;
    }

    /** Returns the default of the gate in a release. */
    public boolean defaultIn(KubernetesVersion version) {
        return stage(version) == ON;
    }

    private Stage stage(KubernetesVersion version) {
        return stages[version.ordinal()];
    }
}
