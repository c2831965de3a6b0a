// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Tools for tests of a provider: claims, recording contexts, and a running driver.
 *
 * <p>Flow: a vendor's test → here → the provider, as it is or in a {@link io.dra4j.runtime.DraDriver} on the test kit.
 */
@NullMarked
package io.dra4j.test;

import org.jspecify.annotations.NullMarked;
