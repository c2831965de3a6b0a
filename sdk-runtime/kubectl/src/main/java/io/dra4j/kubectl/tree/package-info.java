// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Show who has which device: nodes, their pools, the devices in use and what is free.
 *
 * <p>Flow: a snapshot of a cluster → branches by place → text or JSON.
 */
@NullMarked
package io.dra4j.kubectl.tree;

import org.jspecify.annotations.NullMarked;
