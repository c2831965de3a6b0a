// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Be a kubelet plugin: registration, and the DRA services v1 and v1beta1, over unix sockets.
 *
 * <p>Flow: the kubelet → here → claim.
 */
@NullMarked
package io.dra4j.runtime.internal.kubelet;

import org.jspecify.annotations.NullMarked;
