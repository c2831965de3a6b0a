// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.util.List;

/**
 * The status of publishing, after a round.
 *
 * @param slices how many slices of this driver the cluster has
 * @param unpublishedPools how many pools the cluster does not have as the provider has them
 * @param missing what is missing, a line each
 * @param leftOut the devices that break a rule of the API, a line each
 */
record PublishStatus(int slices, int unpublishedPools, List<String> missing, List<String> leftOut) {}
