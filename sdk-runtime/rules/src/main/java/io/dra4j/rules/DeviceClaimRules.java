// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** Rules for what a claim wants: requests, constraints on them, and configurations for them. */
final class DeviceClaimRules {
    private static final int CONFIGS = 32;

    private DeviceClaimRules() {}

    static void check(Field devices, FeatureGates gates, ExpressionRules expressions) {
        RequestNames names = RequestNames.of(devices.value());
        ConstraintRules constraints = new ConstraintRules(devices.at("constraints"), gates, expressions);
        new RequestRules(constraints, expressions).check(devices.at("requests"));
        constraints.check(names);
        Field configs = devices.at("config");
        if (configs.requireAtMost(CONFIGS)) {
            for (Field config : configs.items()) {
                names.check(config.at("requests"));
                ConfigRules.check(config);
            }
        }
    }
}
