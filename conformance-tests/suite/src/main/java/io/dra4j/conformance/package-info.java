// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The entry points of the conformance suite: its commands, and the factory of JUnit tests.
 *
 * <p>Flow: the command line → here → the kubelet, the API server and the play.
 */
@NullMarked
package io.dra4j.conformance;

import org.jspecify.annotations.NullMarked;
