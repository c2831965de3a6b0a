// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.FeatureGate.Stage.ABSENT;
import static io.dra4j.rules.FeatureGate.Stage.LOCKED;
import static io.dra4j.rules.FeatureGate.Stage.OFF;
import static io.dra4j.rules.FeatureGate.Stage.ON;
import static java.util.stream.Collectors.joining;

import java.util.Arrays;

/**
 * The feature gates of DRA, with their defaults from 1.34 to 1.38.
 *
 * <p>Up to 1.37 they are those of Kubernetes' own list. For 1.38, which is not released, a gate changes only if the
 * change was merged: the gates of taints are locked (#140256). Gates whose change is only planned stay as in 1.37:
 * consumable capacity (enhancements#6375), binding conditions (enhancements#6005) and partitionable devices
 * (enhancements#6381), which become stable, and 5945, 5517, 5963 and 6080, which become beta.
 *
 * <p>A gate that does not exist in a release is off there and cannot be set: the field behind it does not exist. Some
 * gates have no effect in this server, because they concern the scheduler or kinds that it does not serve; they can
 * still be set, as on a cluster.
 */
public enum FeatureGate {
    DRA_ADMIN_ACCESS("DRAAdminAccess", ON, ON, LOCKED, LOCKED, LOCKED),
    DRA_PRIORITIZED_LIST("DRAPrioritizedList", ON, ON, ON, LOCKED, LOCKED),
    DRA_RESOURCE_CLAIM_DEVICE_STATUS("DRAResourceClaimDeviceStatus", ON, ON, ON, LOCKED, LOCKED),
    DRA_PARTITIONABLE_DEVICES("DRAPartitionableDevices", OFF, OFF, ON, ON, ON),
    DRA_PARTITIONABLE_DEVICES_TYPE("DRAPartitionableDevicesType", ABSENT, ABSENT, ABSENT, OFF, OFF),
    DRA_DEVICE_TAINTS("DRADeviceTaints", OFF, OFF, ON, ON, LOCKED),
    /** The rules are stored either way; the gate concerns the components that follow them. */
    DRA_DEVICE_TAINT_RULES("DRADeviceTaintRules", ABSENT, OFF, OFF, ON, LOCKED),
    DRA_CONSUMABLE_CAPACITY("DRAConsumableCapacity", OFF, OFF, ON, ON, ON),
    /** Alpha in 1.38, by KEP 5941; the fields are those of the KEP, as its code (#140084) was not merged by then. */
    DRA_SHARED_CONSUMABLE_CAPACITY("DRASharedConsumableCapacity", ABSENT, ABSENT, ABSENT, ABSENT, OFF),
    /** Drops no fields: request policies with fractions are validated by other rules. */
    DRA_FRACTIONAL_CAPACITY_RANGE("DRAFractionalCapacityRange", ABSENT, ABSENT, ABSENT, ON, ON),
    DRA_DEVICE_BINDING_CONDITIONS("DRADeviceBindingConditions", OFF, OFF, ON, ON, ON),
    DRA_EXTENDED_RESOURCE("DRAExtendedResource", OFF, OFF, ON, LOCKED, LOCKED),
    DRA_LIST_TYPE_ATTRIBUTES("DRAListTypeAttributes", ABSENT, ABSENT, OFF, OFF, OFF),
    DRA_NODE_ALLOCATABLE_RESOURCES("DRANodeAllocatableResources", ABSENT, ABSENT, OFF, OFF, OFF),
    /** Has no effect here: the server does not serve ResourcePoolStatusRequests. */
    DRA_RESOURCE_POOL_STATUS("DRAResourcePoolStatus", ABSENT, ABSENT, OFF, OFF, OFF),
    /** A claim may be reserved for a PodGroup either way, as on a cluster. */
    DRA_WORKLOAD_RESOURCE_CLAIMS("DRAWorkloadResourceClaims", ABSENT, ABSENT, OFF, OFF, OFF),
    DRA_OPTIONAL_NODE_OPERATIONS("DRAOptionalNodeOperations", ABSENT, ABSENT, ABSENT, OFF, OFF),
    DRA_DEVICE_COMPATIBILITY_GROUPS("DRADeviceCompatibilityGroups", ABSENT, ABSENT, ABSENT, OFF, OFF),
    DRA_DERIVED_ATTRIBUTES("DRADerivedAttributes", ABSENT, ABSENT, ABSENT, OFF, OFF),
    /** For all kinds, not only DRA's: clients may ask for objects without their managed fields (#139561). */
    MANAGED_FIELDS_OPT_OUT("ManagedFieldsOptOut", ABSENT, ABSENT, ABSENT, ABSENT, OFF);

    enum Stage {
        ABSENT,
        OFF,
        ON,
        /** On, and cannot be switched off. */
        LOCKED
    }

    private final String text;
    private final Stage[] stages;

    FeatureGate(String text, Stage... stages) {
        this.text = text;
        this.stages = stages;
    }

    /**
     * Finds the gate of a name.
     *
     * @throws IllegalArgumentException if no DRA gate has the name
     */
    public static FeatureGate parse(String text) {
        return Arrays.stream(values())
                .filter(gate -> gate.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(unknown(text)));
    }

    private static String unknown(String text) {
        String known = Arrays.stream(values()).map(FeatureGate::text).collect(joining(", "));
        return "there is no feature gate %s of DRA; choose one of %s".formatted(text, known);
    }

    /** Returns the name as spelled in {@code --feature-gates}. */
    public String text() {
        return text;
    }

    public boolean existsIn(KubernetesVersion version) {
        return stage(version) != ABSENT;
    }

    public boolean defaultIn(KubernetesVersion version) {
        return stage(version) == ON || isLockedIn(version);
    }

    /** Returns whether the gate is locked on in a release, so that it cannot be switched off. */
    public boolean isLockedIn(KubernetesVersion version) {
        return stage(version) == LOCKED;
    }

    private Stage stage(KubernetesVersion version) {
        return stages[version.ordinal()];
    }
}
