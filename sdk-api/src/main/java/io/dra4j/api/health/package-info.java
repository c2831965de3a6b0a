// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The health of devices.
 *
 * <p>Flow: your provider → here → the kubelet's health stream and the pod's status.
 */
@NullMarked
package io.dra4j.api.health;

import org.jspecify.annotations.NullMarked;
