// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import java.util.List;

/**
 * A pool as a node sees it.
 *
 * @param slices the slices of the newest generation for this node
 * @param elsewhere the other slices of that generation
 * @param problem why it is invalid; empty if it is not
 */
record Pool(PoolId id, List<Slice> slices, List<Slice> elsewhere, boolean incomplete, String problem) {

    boolean isInvalid() {
        return !problem.isEmpty();
    }

    /** Returns whether it has devices with binding conditions; an unusable pool counts as having none. */
    boolean hasBindingConditions() {
        return !incomplete
                && !isInvalid()
                && slices.stream()
                        .flatMap(slice -> slice.devices().stream())
                        .anyMatch(device -> !device.bindingConditions().isEmpty());
    }

    long expected() {
        return slices.get(0).sliceCount();
    }

    int found() {
        return slices.size() + elsewhere.size();
    }
}
