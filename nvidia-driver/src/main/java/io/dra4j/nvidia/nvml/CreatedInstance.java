// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A GPU instance that this process has created.
 *
 * @param id its number, which is reused
 * @param serial its place in the order of creation by this process, which is not reused
 */
public record CreatedInstance(int id, long serial) {}
