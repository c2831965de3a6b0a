// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Constraint;
import org.jspecify.annotations.Nullable;

/** All devices have the same value, or with lists, a value in common. */
final class MatchConstraint extends ClaimConstraint {
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
