// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;

/** One request that brings the cluster closer to the plan. */
public sealed interface SliceWrite {

    record Delete(Stored slice) implements SliceWrite {}

    record Update(Stored slice, Content content) implements SliceWrite {}

    record Create(int index, Content content) implements SliceWrite {}
}
