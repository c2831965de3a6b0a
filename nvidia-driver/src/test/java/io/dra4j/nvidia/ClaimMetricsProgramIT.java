// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.ClaimMetricsProgramContract;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** The metrics of claims that wait, as the chart of the NVIDIA driver starts them. */
@Tag("nightly")
class ClaimMetricsProgramIT extends ClaimMetricsProgramContract {

    @Override
    protected List<String> program() {
        return List.of("java", "-XX:TieredStopAtLevel=1", "-jar", "target/dra4j-nvidia-driver.jar");
    }
}
