// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

/**
 * What the devices of a node have in common.
 *
 * @param driverVersion the driver's version as a semantic version
 * @param cudaVersion the newest version of CUDA that it knows, {@code 12.4}
 * @param sysfs where the kernel tells of PCI devices
 * @param nvlink who reaches whom
 */
record NodeFacts(String driverVersion, String cudaVersion, Sysfs sysfs, NvlinkGroups nvlink) {}
