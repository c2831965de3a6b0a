// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import io.dra4j.testkit.apiserver.model.FeatureGates;
import java.util.Map;

/** The strategies of all kinds that have one. */
public final class Strategies {
    private Strategies() {}

    public static Map<String, Strategy> of(FeatureGates gates, MetadataRules metadata) {
        return Map.of(
                "resourceslices", new SliceStrategy(gates, metadata),
                "resourceclaims", new ClaimStrategy(gates),
                "resourceclaimtemplates", new ClaimTemplateStrategy(gates),
                "deviceclasses", new DeviceClassStrategy(gates),
                "pods", new PhaseStrategy("Pending"),
                "namespaces", new PhaseStrategy("Active"));
    }
}
