// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Plans and compares slices: pool in, slices out; slices in, writes out. Pure.
 *
 * <p>Flow: publish → here → cluster's values.
 */
@NullMarked
package io.dra4j.runtime.internal.publish.plan;

import org.jspecify.annotations.NullMarked;
