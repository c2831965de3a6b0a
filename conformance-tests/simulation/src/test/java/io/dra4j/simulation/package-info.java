// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** Runs of the driver's own code in a simulated cluster, each repeated by its seed. */
@NullMarked
package io.dra4j.simulation;

import org.jspecify.annotations.NullMarked;
