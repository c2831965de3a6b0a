// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * NVML as safe Java: what a node's GPUs are, and how MIG devices are made and destroyed. UUIDs and
 * PCI addresses leave this package; pointers and handles do not.
 *
 * <p>Flow: {@code inventory}, {@code mig} and {@code health} → here → {@code nvml.jna}.
 */
@NullMarked
package io.dra4j.nvidia.nvml;

import org.jspecify.annotations.NullMarked;
