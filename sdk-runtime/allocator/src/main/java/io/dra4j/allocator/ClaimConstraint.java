// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Constraint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A constraint of a claim, with the devices that it compares so far. */
abstract sealed class ClaimConstraint permits MatchConstraint, DistinctConstraint {

    /** A device of a request, and what it is compared by. */
    record Entry(String request, Candidate candidate, AttributeValue value) {}

    final List<Entry> entries = new ArrayList<>();
    private final Constraint constraint;

    ClaimConstraint(Constraint constraint) {
        this.constraint = constraint;
    }

    /** Makes the constraint of a scheduler. */
    static ClaimConstraint of(Constraint constraint, Behaviour behaviour) {
        return constraint.kind() == Constraint.Kind.MATCH
                ? new MatchConstraint(constraint, behaviour)
                : new DistinctConstraint(constraint, behaviour);
    }

    /** Adds a device, or returns why it cannot be with the others. */
    final @Nullable Obstacle add(Plan plan, Candidate candidate) {
        if (!constraint.appliesTo(plan.request(), plan.asked())) {
            return null;
        }
        AttributeValue value = value(candidate);
        if (value == null) {
            return new Obstacle.NotTogether(constraint, null, null);
        }
        Entry entry = new Entry(plan.request().name(), candidate, value);
        AttributeValue conflict = conflict(entry);
        if (conflict != null) {
            return new Obstacle.NotTogether(constraint, value, conflict);
        }
        entries.add(entry);
        added(entry);
        return null;
    }

    /** Removes the device that was added last. */
    final void remove(Plan plan) {
        if (constraint.appliesTo(plan.request(), plan.asked())) {
            removed(entries.remove(entries.size() - 1));
        }
    }

    /** Returns the value that a device cannot be together with, or null. */
    abstract @Nullable AttributeValue conflict(Entry entry);

    /** Called when a device was added. */
    void added(Entry entry) {}

    /** Called when a device was removed. */
    void removed(Entry entry) {}

    /** A name without its domain stands for the driver's. */
    private @Nullable AttributeValue value(Candidate candidate) {
        String attribute = constraint.attribute();
        AttributeValue value = candidate.device().attributes().get(attribute);
        String domain = candidate.id().driver() + "/";
        return value == null && attribute.startsWith(domain)
                ? candidate.device().attributes().get(attribute.substring(domain.length()))
                : value;
    }
}
