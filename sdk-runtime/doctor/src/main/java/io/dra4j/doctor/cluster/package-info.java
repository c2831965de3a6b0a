// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of what the API server shows: of a whole cluster, or of one driver on one node.
 *
 * <p>Flow: a program's client as {@link ClusterApi} → {@code ClusterView} → checks → findings.
 */
@NullMarked
package io.dra4j.doctor.cluster;

import org.jspecify.annotations.NullMarked;
