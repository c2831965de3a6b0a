// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

/**
 * A receiver of changes.
 *
 * <p>All methods except {@link #flush} are called under the store's lock, in the order of revisions:
 * they must only record the change. {@code flush} is called afterwards, outside the lock, and may write.
 */
public interface Watcher {
    /** A change of the watched kind. */
    void changed(CommittedWrite change);

    /** All objects that existed at that revision have been sent as changes. */
    void synced(long revision);

    /** All changes up to that revision have been sent. */
    void bookmark(long revision);

    void flush();
}
