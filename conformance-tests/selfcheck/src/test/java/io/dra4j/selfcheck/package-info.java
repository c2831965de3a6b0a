// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The drivers by which the suite itself is tested: a small one on the bare stubs, its mutants,
 * which have a fault each, and its conforming variants, which are unusual and violate nothing.
 *
 * <p>Flow: the suite's tests → here → the kubelet's sockets, the API server and the CDI directory.
 */
@NullMarked
package io.dra4j.selfcheck;

import org.jspecify.annotations.NullMarked;
