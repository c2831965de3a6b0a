// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Bugs that are planted in the runtime's classes, to see whether the simulation finds them.
 *
 * <p>Flow: {@code bugs.txt} → changed classes → a search.
 */
@NullMarked
package io.dra4j.simulation.bugs;

import org.jspecify.annotations.NullMarked;
