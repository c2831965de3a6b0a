// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code audit}, which cross-checks the API's views of devices.
 *
 * <p>Flow: {@code read} → {@code ClusterAudit} → a report of {@code io.dra4j.doctor}.
 */
@NullMarked
package io.dra4j.kubectl.audit;

import org.jspecify.annotations.NullMarked;
