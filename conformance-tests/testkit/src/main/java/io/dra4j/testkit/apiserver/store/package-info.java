// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Objects in memory: revisions, history, lists, selectors and watches.
 *
 * <p>Flow: {@code registry} → {@code ObjectStore} → {@code Watcher}s.
 */
@NullMarked
package io.dra4j.testkit.apiserver.store;

import org.jspecify.annotations.NullMarked;
