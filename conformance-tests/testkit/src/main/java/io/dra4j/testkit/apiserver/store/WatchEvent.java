// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

/** One event of a watch. */
public record WatchEvent(String type, StoredObject object) {}
