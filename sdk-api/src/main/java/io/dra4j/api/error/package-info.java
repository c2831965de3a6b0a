// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The exceptions of the SDK.
 *
 * <p>Flow: your provider → here → the pod's owner and the driver's log.
 */
@NullMarked
package io.dra4j.api.error;

import org.jspecify.annotations.NullMarked;
