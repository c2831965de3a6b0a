// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.rules.OwnNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A constraint of a claim, with the devices added so far. */
abstract sealed class ClaimConstraint {

    /** A device of a request, and the value by which it is compared. */
    record Entry(String request, Candidate candidate, AttributeValue value) {}

    final List<Entry> entries = new ArrayList<>();
    private final Constraint constraint;

    ClaimConstraint(Constraint constraint) {
        this.constraint = constraint;
    }

    static ClaimConstraint of(Constraint constraint, Behaviour behaviour) {
        return constraint.kind() == Constraint.Kind.MATCH
                ? new MatchConstraint(constraint, behaviour)
                : new DistinctConstraint(constraint, behaviour);
    }

    /** Adds a device, or returns why it conflicts with the others. */
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

    /** Returns the value that a device conflicts with, or null. */
    abstract @Nullable AttributeValue conflict(Entry entry);

    void added(Entry entry) {}

    void removed(Entry entry) {}

    private @Nullable AttributeValue value(Candidate candidate) {
        return new OwnNames(candidate.id().driver())
                .find(candidate.device().attributes(), constraint.attribute())
                .orElse(null);
    }

    /** No two devices have a value in common. */
    private static final class DistinctConstraint extends ClaimConstraint {
        private final Behaviour behaviour;

        /** The last device of each request; a scheduler with the bug compares only these. */
        private final Map<String, Entry> remembered = new HashMap<>();

        DistinctConstraint(Constraint constraint, Behaviour behaviour) {
            super(constraint);
            this.behaviour = behaviour;
        }

        @Override
        void added(Entry entry) {
            remembered.put(entry.request(), entry);
        }

        @Override
        void removed(Entry entry) {
            remembered.remove(entry.request());
        }

        @Override
        @Nullable
        AttributeValue conflict(Entry entry) {
            Collection<Entry> others =
                    behaviour.has(SchedulerBug.DISTINCT_IN_ONE_REQUEST) ? remembered.values() : entries;
            for (Entry other : others) {
                if (!areDistinct(entry, other)) {
                    return other.value();
                }
            }
            return null;
        }

        private boolean areDistinct(Entry entry, Entry other) {
            if (behaviour.has(SchedulerBug.DISTINCT_SHARES_ONLY)) {
                return !entry.candidate().id().equals(other.candidate().id());
            }
            if (behaviour.comparesLists()) {
                return entry.value().common(other.value()).values().isEmpty();
            }
            return entry.value().isScalar() && !entry.value().isSame(other.value());
        }
    }

    /** All devices have the same value or, with lists, a value in common. */
    private static final class MatchConstraint extends ClaimConstraint {
        private final boolean lists;

        MatchConstraint(Constraint constraint, Behaviour behaviour) {
            super(constraint);
            this.lists = behaviour.comparesLists();
        }

        @Override
        @Nullable
        AttributeValue conflict(Entry entry) {
            if (entries.isEmpty()) {
                return null;
            }
            AttributeValue common = entries.get(0).value();
            if (!lists) {
                return entry.value().isSame(common) ? null : common;
            }
            for (Entry other : entries) {
                common = common.common(other.value());
            }
            return common.common(entry.value()).values().isEmpty() ? common : null;
        }
    }
}
