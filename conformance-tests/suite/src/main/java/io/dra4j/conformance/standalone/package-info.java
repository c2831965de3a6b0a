// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The embedded API server alone, and the manifests that it starts with.
 *
 * <p>Flow: the command line, or a play → here → the embedded API server.
 */
@NullMarked
package io.dra4j.conformance.standalone;

import org.jspecify.annotations.NullMarked;
