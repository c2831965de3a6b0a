// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A kubelet, and a container runtime, as a DRA driver sees them.
 *
 * <p>Flow: a test or a play → here → the driver's sockets.
 */
@NullMarked
package io.dra4j.testkit.kubelet;

import org.jspecify.annotations.NullMarked;
