// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of GPUs, as taints of devices and as health reports to the kubelet.
 *
 * <p>Flow: NVML's events → here → the inventory's taints, and the context's health reports.
 */
@NullMarked
package io.dra4j.nvidia.health;

import org.jspecify.annotations.NullMarked;
