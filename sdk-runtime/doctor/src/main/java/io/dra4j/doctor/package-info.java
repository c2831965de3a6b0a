// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of clusters and nodes that run DRA drivers: what is wrong, why, and how to fix it.
 *
 * <p>Flow: a program gives what its checks look at → checks → a report, as text or JSON. Knows no
 * client, no driver and no CEL, so that kubectl's plugin and drivers share it.
 */
@NullMarked
package io.dra4j.doctor;

import org.jspecify.annotations.NullMarked;
