// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the provider's reports of its devices' health while they are valid.
 *
 * <p>Flow: the provider → here → kubelet (the health stream) and publish (taints).
 */
@NullMarked
package io.dra4j.runtime.internal.health;

import org.jspecify.annotations.NullMarked;
