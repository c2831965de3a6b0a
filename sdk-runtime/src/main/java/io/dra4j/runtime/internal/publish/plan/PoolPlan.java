// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.List;

/** The slices of a pool that was never published. */
public final class PoolPlan {

    private PoolPlan() {}

    /**
     * Plans a pool, in its first generation.
     *
     * @throws IllegalArgumentException if it can't be written as slices
     */
    public static List<Content> of(Pool pool, boolean mayTaint) {
        List<PlannedSlice> slices = SlicePlanner.plan(pool, List.of(), mayTaint);
        return slices.stream().map(slice -> slice.content().at(1, slices.size())).toList();
    }
}
