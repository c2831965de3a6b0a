// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** Loads the runtime's classes so that they wait, and tell the time, by the simulation. */
@NullMarked
package io.dra4j.simulation.rewrite;

import org.jspecify.annotations.NullMarked;
