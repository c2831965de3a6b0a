// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import io.dra4j.testkit.apiserver.model.ResourceKind;
import org.jspecify.annotations.Nullable;

/**
 * One committed write.
 *
 * @param before the object before the write, null if it was created
 * @param after the object after the write, null if it was deleted
 */
public record CommittedWrite(
        ResourceKind kind,
        long revision,
        @Nullable StoredObject before,
        @Nullable StoredObject after) {

    static CommittedWrite existing(StoredObject object) {
        return new CommittedWrite(object.kind(), object.revision(), null, object);
    }
}
