// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Answer questions about the devices of any cluster: a program, and a plugin of kubectl.
 *
 * <p>Flow: the command line → objects read from the cluster ({@code read}) → an explanation ({@code explain}), a tree
 * ({@code tree}) or findings ({@code doctor}), as text or JSON. Nothing is ever written to the cluster.
 */
@NullMarked
package io.dra4j.kubectl;

import org.jspecify.annotations.NullMarked;
