// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The functions of PCI devices in sysfs, with any driver.
 *
 * <p>Flow: sysfs → here → {@code inventory}, {@code vfio}.
 */
@NullMarked
package io.dra4j.nvidia.pci;

import org.jspecify.annotations.NullMarked;
