// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A node around one driver: API server, proxy, kubelet, directories, claims. All that a rule needs,
 * and the record of what it did.
 *
 * <p>Flow: the settings → {@link io.dra4j.conformance.context.TestContext} → a rule asks it to
 * prepare, look, break and restart → what was seen becomes the evidence.
 */
@NullMarked
package io.dra4j.conformance.context;

import org.jspecify.annotations.NullMarked;
