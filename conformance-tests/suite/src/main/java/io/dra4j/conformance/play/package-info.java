// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Plays manifests with a driver: the whole lifecycle of a claim, on one machine and for people to watch.
 *
 * <p>Flow: the command line → here → the embedded API server, the fake kubelet and the driver's process.
 */
@NullMarked
package io.dra4j.conformance.play;

import org.jspecify.annotations.NullMarked;
