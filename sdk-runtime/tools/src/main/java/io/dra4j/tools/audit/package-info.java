// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code audit}: the journal, the CDI specs, the kubelet's record, the API's claims and
 * the hardware, cross-checked.
 *
 * <p>Flow: {@code ViewReader} → {@code Views} → {@code Contradictions} → a report.
 */
@NullMarked
package io.dra4j.tools.audit;

import org.jspecify.annotations.NullMarked;
