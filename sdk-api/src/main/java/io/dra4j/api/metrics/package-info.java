// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements of the devices of claims: how busy they are, how much memory and power they use.
 *
 * <p>Flow: your provider → here → the driver's metrics endpoint, with the labels of the claim.
 */
@NullMarked
package io.dra4j.api.metrics;

import org.jspecify.annotations.NullMarked;
