// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Explain why a pod's claims do not fit, and what would help.
 *
 * <p>Flow: a pod, a claim or a manifest → what it asks for ({@code Subject}) → an attempt on each
 * node ({@code Attempts}) → a {@code ExplainReport} of similar nodes and tried changes → text or JSON.
 */
@NullMarked
package io.dra4j.kubectl.explain;

import org.jspecify.annotations.NullMarked;
