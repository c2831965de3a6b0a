// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Constraint;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** No two devices have a value in common. */
final class DistinctConstraint extends ClaimConstraint {
    private final Behaviour behaviour;

    /** The last device of each request, which is all that a scheduler with the bug compares. */
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
        Collection<Entry> others = behaviour.has(SchedulerBug.DISTINCT_IN_ONE_REQUEST) ? remembered.values() : entries;
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
