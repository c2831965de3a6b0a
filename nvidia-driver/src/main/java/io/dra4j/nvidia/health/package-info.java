// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * What ails GPUs: errors that they tell of, and their loss, as taints of devices and as reports to
 * the kubelet.
 *
 * <p>Flow: NVML's events → here → the inventory's taints, and the context's health reports.
 */
@NullMarked
package io.dra4j.nvidia.health;

import org.jspecify.annotations.NullMarked;
