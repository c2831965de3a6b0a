// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reports a claim's devices to the cluster and the containers: {@code status.devices}, binding conditions, metadata
 * files.
 *
 * <p>Flow: claim, and the provider through its context → here → cluster, and files below the driver's directory.
 */
@NullMarked
package io.dra4j.runtime.internal.status;

import org.jspecify.annotations.NullMarked;
