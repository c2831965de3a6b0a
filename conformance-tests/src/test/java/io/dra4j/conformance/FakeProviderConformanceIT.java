// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.example.FakeGpuProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The in-process form of the suite, as a vendor writes it. */
class FakeProviderConformanceIT {

    @TestFactory
    Stream<DynamicNode> conformance() {
        return DraConformance.of(
                        "gpu.example.com",
                        place -> new FakeGpuProvider(place.driver(), place.node(), 40))
                .tests();
    }
}
