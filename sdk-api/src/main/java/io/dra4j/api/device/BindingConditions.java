// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that an allocated device must meet before its pod is bound to a node.
 *
 * @param conditions condition types that must all be true, at most 4; label names
 * @param failureConditions condition types, at most 4; if any of them is true, the scheduler gives up the allocation;
 *     empty if and only if the conditions are
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5007-device-attach-before-pod-scheduled">
 *     KEP-5007</a>
 */
public record BindingConditions(List<String> conditions, List<String> failureConditions) {

    /** No conditions: the pod is bound immediately. */
    public static final BindingConditions NONE = new BindingConditions(List.of(), List.of());

    /** Copies the lists. */
    public BindingConditions {
        conditions = List.copyOf(Objects.requireNonNull(conditions, "conditions"));
        failureConditions = List.copyOf(Objects.requireNonNull(failureConditions, "failureConditions"));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof BindingConditions that
                && conditions.equals(that.conditions)
                && failureConditions.equals(that.failureConditions);
    }

    @Override
    public int hashCode() {
        return Objects.hash(conditions, failureConditions);
    }
}
