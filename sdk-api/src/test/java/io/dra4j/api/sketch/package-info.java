// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Three providers in outline, which show that the SPI serves them, and what it is like to use.
 *
 * <p>Flow: a fake of the hardware → here → what the runtime would be answered.
 */
@NullMarked
package io.dra4j.api.sketch;

import org.jspecify.annotations.NullMarked;
