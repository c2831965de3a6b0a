// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A GPU's place in an NVLink fabric.
 *
 * @param clusterUuid the UUID of the cluster, lower case, with dashes
 * @param cliqueId the clique of GPUs that access one another's memory
 * @param complete whether the fabric manager has completed without an error
 */
public record Fabric(String clusterUuid, int cliqueId, boolean complete) {}
