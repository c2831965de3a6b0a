// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The partitions of the NVSwitch fabric, which the node's fabric manager activates.
 *
 * <p>Flow: {@code install} → here → the attributes of {@code inventory}, and claims.
 */
@NullMarked
package io.dra4j.nvidia.fabric;

import org.jspecify.annotations.NullMarked;
