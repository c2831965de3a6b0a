// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Find what is wrong with a cluster's devices: the command {@code doctor}.
 *
 * <p>Flow: the command line → {@code read} → the checks of {@code io.dra4j.doctor}, and that of
 * DeviceClasses, which needs CEL → a report.
 */
@NullMarked
package io.dra4j.kubectl.doctor;

import org.jspecify.annotations.NullMarked;
