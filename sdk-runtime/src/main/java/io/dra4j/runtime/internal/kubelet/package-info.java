// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The driver as a kubelet plugin: registration, the DRA services v1 and v1beta1, and the health stream.
 *
 * <p>Flow: the kubelet → here → claim; and health → here → the kubelet.
 */
@NullMarked
package io.dra4j.runtime.internal.kubelet;

import org.jspecify.annotations.NullMarked;
