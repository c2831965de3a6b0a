// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Find what the API server or the scheduler would refuse in a pool, before anything of it is sent.
 *
 * <p>Flow: the provider's inventory → here → internal.publish.
 */
@NullMarked
package io.dra4j.runtime.internal.validate;

import org.jspecify.annotations.NullMarked;
