// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

/** What a watch tells its client of one change. */
public record WatchEvent(String type, StoredObject object) {}
