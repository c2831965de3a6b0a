// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.List;

/** Rules for a new allocation of a claim. */
record AllocationRules(RequestNames names) {
    private static final int CONFIGS = 64;
    private static final List<String> SOURCES = List.of("FromClaim", "FromClass");

    void check(Field allocation) {
        Field results = allocation.at("devices").at("results");
        if (results.requireAtMost(ClaimLimits.RESULTS)) {
            results.items().forEach(this::checkResult);
        }
        Field configs = allocation.at("devices").at("config");
        if (configs.requireAtMost(CONFIGS)) {
            configs.items().forEach(this::checkConfig);
        }
        if (allocation.at("nodeSelector").present()) {
            NodeRules.checkSelector(allocation.at("nodeSelector"));
        }
    }

    private void checkResult(Field result) {
        names.requireKnown(result.at("request"));
        DeviceStatusRules.checkIdentity(result);
        BindingRules.check(result);
        result.at("tolerations").items().forEach(TolerationRules::check);
        NodeOperationRules.check(result.at("skipNodeOperations"));
    }

    private void checkConfig(Field config) {
        if (config.at("source").requireText()) {
            config.at("source").requireOneOf(SOURCES);
        }
        names.check(config.at("requests"));
        ConfigRules.check(config);
    }
}
