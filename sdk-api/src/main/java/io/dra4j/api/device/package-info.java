// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The inventory of a node: pools of devices with attributes, capacities, counters and taints.
 *
 * <p>Flow: your provider → here → the ResourceSlices of the cluster.
 */
@NullMarked
package io.dra4j.api.device;

import org.jspecify.annotations.NullMarked;
