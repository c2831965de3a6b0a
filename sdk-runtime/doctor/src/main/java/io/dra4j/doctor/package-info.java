// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of clusters and nodes that run DRA drivers: what is wrong, why, and how to fix it.
 *
 * <p>Flow: a program supplies what its checks read → checks → a report, as text or JSON. Independent of clients,
 * drivers and CEL, so that the kubectl plugin and drivers can share it.
 */
@NullMarked
package io.dra4j.doctor;

import org.jspecify.annotations.NullMarked;
