// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The objects that an allocation depends on, decoded from JSON to the fields that the allocator reads.
 *
 * <p>Flow: an object as JSON → {@code of} of its record → {@code io.dra4j.allocator}. Unknown fields are ignored,
 * absent ones have the API's defaults, and names that many objects share are kept once.
 */
@NullMarked
package io.dra4j.allocator.model;

import org.jspecify.annotations.NullMarked;
