// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.charttest.ClaimMetricsProgramContract;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** The metrics of waiting claims, as the chart of the fake driver starts them. */
@Tag("gate")
class ClaimMetricsProgramIT extends ClaimMetricsProgramContract {

    @Override
    protected List<String> program() {
        return DriverJar.command();
    }
}
