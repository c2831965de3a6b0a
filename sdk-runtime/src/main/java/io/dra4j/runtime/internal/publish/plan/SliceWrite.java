// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;

/** One request that brings the cluster closer to the plan. */
public sealed interface SliceWrite {

    /** Deletes a slice. */
    record Delete(Stored slice) implements SliceWrite {}

    /** Replaces the content of a slice. */
    record Update(Stored slice, Content content) implements SliceWrite {}

    /** Creates a slice. */
    record Create(int index, Content content) implements SliceWrite {}
}
