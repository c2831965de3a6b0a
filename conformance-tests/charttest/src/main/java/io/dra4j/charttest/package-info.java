// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Charts as Helm renders them, and checks of the result.
 *
 * <p>Flow: chart and values → manifests → decoded strictly, evaluated, applied; values and rights →
 * pages of the reference.
 */
@NullMarked
package io.dra4j.charttest;

import org.jspecify.annotations.NullMarked;
