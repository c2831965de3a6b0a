// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of a provider's tests: claims, contexts that record, and a driver that runs.
 *
 * <p>Flow: a vendor's test → here → the provider, alone or in a {@link io.dra4j.runtime.DraDriver} on the test kit.
 */
@NullMarked
package io.dra4j.test;

import org.jspecify.annotations.NullMarked;
