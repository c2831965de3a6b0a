// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.MonitoringContract;

/** The alerts and dashboards in the chart of the NVIDIA driver. */
class ChartMonitoringTest extends MonitoringContract {}
