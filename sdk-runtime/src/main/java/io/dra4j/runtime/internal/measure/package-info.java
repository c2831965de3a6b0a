// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Measures the devices of prepared claims when metrics are scraped, at a bounded cost.
 *
 * <p>Flow: the page of metrics → here → the provider's meter.
 */
@NullMarked
package io.dra4j.runtime.internal.measure;

import org.jspecify.annotations.NullMarked;
