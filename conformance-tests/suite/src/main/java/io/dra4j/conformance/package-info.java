// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The doors of the conformance suite.
 *
 * <p>Flow: the command line → here → the kubelet, the API server and the play.
 */
@NullMarked
package io.dra4j.conformance;

import org.jspecify.annotations.NullMarked;
