// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A node around one driver: API server, proxy, kubelet, directories and claims for the rules, and a record of what they
 * did.
 *
 * <p>Flow: the settings → {@link io.dra4j.conformance.context.TestContext} → a rule prepares, observes, breaks and
 * restarts with it → the observations become the evidence.
 */
@NullMarked
package io.dra4j.conformance.context;

import org.jspecify.annotations.NullMarked;
