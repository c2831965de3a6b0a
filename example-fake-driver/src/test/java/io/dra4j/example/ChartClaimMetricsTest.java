// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.charttest.ClaimMetricsContract;

/** The metrics of waiting claims in the chart of the fake driver. */
class ChartClaimMetricsTest extends ClaimMetricsContract {}
