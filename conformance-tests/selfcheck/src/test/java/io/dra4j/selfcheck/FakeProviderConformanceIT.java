// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.conformance.DraConformance;
import io.dra4j.example.FakeGpuProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** The in-process form of the suite, as a vendor writes it. */
@Tag("counts")
class FakeProviderConformanceIT {

    /** More than a minute by contract: every night. */
    private static final String LONG =
            Boolean.getBoolean("dra4j.nightly") ? "" : "skip: [DRA-SLICE-06, DRA-SLICE-14, DRA-SLICE-22]";

    @TestFactory
    Stream<DynamicNode> conformance() {
        return DraConformance.of("gpu.example.com", place -> new FakeGpuProvider(place.driver(), place.node(), 40))
                .settings(LONG)
                .tests();
    }
}
