// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Explain what is in the way of a pod's claims, and what would help.
 *
 * <p>Flow: a pod, a claim or a manifest → what it asks for ({@code Subject}) → an attempt on each
 * node ({@code Attempts}) → a {@code ExplainReport} of alike nodes and tried changes → text or JSON.
 */
@NullMarked
package io.dra4j.kubectl.explain;

import org.jspecify.annotations.NullMarked;
