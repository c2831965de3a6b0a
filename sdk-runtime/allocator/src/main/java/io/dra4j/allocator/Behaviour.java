// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.KubernetesVersion.V1_35;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.KubernetesVersion.V1_38;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.OwnNames;
import java.util.EnumSet;
import java.util.Set;

/** The behaviour of a scheduler, which depends on its release, gates and bugs. */
record Behaviour(FeatureGates gates, Set<SchedulerBug> bugs) {

    /** The differences between releases that no feature gate controls. */
    enum Trait {
        /** A pool that lacks slices is used, and slices of other nodes do not count for it. */
        INCOMPLETE_POOLS_ARE_USED(V1_34, V1_34),
        /** An invalid pool ends the attempt when the search reaches it. */
        INVALID_POOLS_ARE_FATAL(V1_34, V1_34),
        /** Counters must be in the slice of the devices that consume them. */
        COUNTERS_IN_DEVICE_SLICE(V1_34, V1_34),
        /** Taints count regardless of their effect. */
        EVERY_TAINT_COUNTS(V1_34, V1_34),
        /** One request may get several shares of one device. */
        SHARES_IN_ONE_REQUEST(V1_34, V1_35),
        /** A slice with counters counts for all nodes. */
        COUNTERS_ON_ALL_NODES(V1_35, V1_36),
        /** A request for all devices means those with enough capacity left, not those with enough capacity. */
        ALL_BY_CAPACITY_LEFT(V1_34, V1_36),
        /** Constraints compare lists of values. */
        LISTS_ARE_COMPARED(V1_36, V1_38),
        /** The error of an expression names the device. */
        ERRORS_NAME_DEVICES(V1_37, V1_38);

        private final KubernetesVersion first;
        private final KubernetesVersion last;

        Trait(KubernetesVersion first, KubernetesVersion last) {
            this.first = first;
            this.last = last;
        }
    }

    Behaviour {
        bugs = bugs.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(bugs));
        refuse(gates, FeatureGate.DRA_DEVICE_COMPATIBILITY_GROUPS);
        refuse(gates, FeatureGate.DRA_DERIVED_ATTRIBUTES);
        refuse(gates, FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES);
        refuse(gates, FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY); // KEP-5941, which no release has yet
    }

    private static void refuse(FeatureGates gates, FeatureGate gate) {
        if (gates.enabled(gate)) {
            throw new IllegalArgumentException(
                    "The allocator does not support feature gate %s; leave it off".formatted(gate.text()));
        }
    }

    boolean has(Trait trait) {
        return gates.version().atLeast(trait.first) && trait.last.atLeast(gates.version());
    }

    boolean has(SchedulerBug bug) {
        return bugs.contains(bug);
    }

    boolean enabled(FeatureGate gate) {
        return gates.enabled(gate);
    }

    boolean atLeast(KubernetesVersion version) {
        return gates.version().atLeast(version);
    }

    boolean partitionable() {
        return enabled(FeatureGate.DRA_PARTITIONABLE_DEVICES);
    }

    boolean consumable() {
        return enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY);
    }

    boolean listsInExpressions() {
        return atLeast(V1_37) || enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES);
    }

    /** Returns the names by which capacity requests, and the capacity that claims have, are compared. */
    OwnNames names(String driver) {
        return names(bugs, driver);
    }

    static OwnNames names(Set<SchedulerBug> bugs, String driver) {
        return bugs.contains(SchedulerBug.CAPACITY_BY_LITERAL_NAME) ? OwnNames.literal() : new OwnNames(driver);
    }

    boolean comparesLists() {
        return has(Trait.LISTS_ARE_COMPARED) && enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES);
    }
}
