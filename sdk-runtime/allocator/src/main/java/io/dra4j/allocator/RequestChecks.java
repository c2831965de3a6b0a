// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.rules.FeatureGate;
import java.util.List;

/** Refuses claims that a scheduler can never allocate, whatever the devices are. */
record RequestChecks(Behaviour behaviour, Cluster cluster) {

    /** Refuses what needs a gate that is off. */
    void checkGates(Claim claim, DeviceRequest request) {
        String subject = Plan.subject(claim, request.name());
        FeatureGate lists = FeatureGate.DRA_PRIORITIZED_LIST;
        if (request.prioritized() && !behaviour.enabled(lists)) {
            throw disabled(subject + "has subrequests", lists);
        }
        if (!behaviour.consumable()
                && request.alternatives().stream()
                        .anyMatch(one -> !one.capacity().isEmpty())) {
            throw disabled(subject + "has capacity requests", FeatureGate.DRA_CONSUMABLE_CAPACITY);
        }
    }

    private static AttemptException disabled(String problem, FeatureGate gate) {
        return new AttemptException("%s, but the %s feature is disabled".formatted(problem, gate.text()));
    }

    /** Refuses an alternative with unknown fields, and returns its class. */
    DeviceClass check(Claim claim, SubRequest asked) {
        String subject = Plan.subject(claim, asked.name());
        int foreign = asked.selectors().indexOf("");
        if (foreign >= 0) {
            throw new AttemptException(
                    "claim %s, request %s, selector #%d: CEL expression empty (unsupported selector type?)"
                            .formatted(claim.fullName(), asked.name(), foreign));
        }
        if (asked.adminAccess() && !behaviour.enabled(FeatureGate.DRA_ADMIN_ACCESS)) {
            throw new AttemptException(subject + "admin access is requested, but the feature is disabled");
        }
        DeviceClass deviceClass = deviceClass(asked.deviceClass(), subject);
        if (!List.of(SubRequest.EXACT_COUNT, SubRequest.ALL).contains(asked.mode())) {
            throw new AttemptException(subject + "unsupported count mode " + asked.mode());
        }
        return deviceClass;
    }

    private DeviceClass deviceClass(String name, String subject) {
        if (name.isEmpty()) {
            throw new AttemptException(subject + "missing device class name (unsupported request type?)");
        }
        return cluster.deviceClass(name)
                .orElseThrow(() ->
                        new AttemptException("%scould not retrieve device class %s: deviceclasses \"%s\" not found"
                                .formatted(subject, name, name)));
    }

    /** Refuses a constraint that is unknown, or needs a gate that is off. */
    void check(Claim claim, int index) {
        Constraint.Kind kind = claim.constraints().get(index).kind();
        boolean known = kind == Constraint.Kind.MATCH || (kind == Constraint.Kind.DISTINCT && behaviour.consumable());
        if (!known) {
            throw new AttemptException("claim %s, constraint #%d: empty constraint (unsupported constraint type?)"
                    .formatted(claim.fullName(), index));
        }
    }
}
