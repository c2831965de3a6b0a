// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import org.jspecify.annotations.Nullable;

/**
 * The part of a cluster that is checked.
 *
 * @param driver one driver; null for all
 * @param node one node; null for all
 */
public record Scope(@Nullable String driver, @Nullable String node) {

    /** All drivers on all nodes. */
    public static final Scope CLUSTER = new Scope(null, null);
}
