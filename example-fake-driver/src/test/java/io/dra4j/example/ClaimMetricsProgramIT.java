// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.charttest.ClaimMetricsProgramContract;
import java.util.List;

/** The metrics of claims that wait, as the chart of the fake driver starts them. */
class ClaimMetricsProgramIT extends ClaimMetricsProgramContract {

    @Override
    protected List<String> program() {
        return DriverJar.command();
    }
}
