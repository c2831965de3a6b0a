// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;

/** The rules for DeviceTaintRules. */
public final class TaintRuleRules {
    private static final int CONDITIONS = 8;

    private TaintRuleRules() {}

    public static void check(JsonNode ruleSpec, ExpressionCompiler compiler, FieldErrors errors) {
        Field spec = new Field(ruleSpec, "spec", errors);
        checkSelector(spec.at("deviceSelector"), new ExpressionRules(compiler));
        DeviceRules.checkTaint(spec.at("taint"));
    }

    public static void checkStatus(JsonNode ruleStatus, FieldErrors errors) {
        Field status = new Field(ruleStatus, "status", errors);
        ConditionRules.check(status.at("conditions"));
        status.at("conditions").requireAtMost(CONDITIONS);
    }

    /** Checks a selector, which may omit any of its fields, or be omitted itself. */
    private static void checkSelector(Field selector, ExpressionRules expressions) {
        if (selector.at("driver").present()) {
            DeviceRules.checkDriver(selector.at("driver"));
        }
        if (selector.at("pool").present()) {
            SliceRules.checkPoolName(selector.at("pool"));
        }
        if (selector.at("device").present()) {
            DeviceRules.checkDeviceName(selector.at("device"));
        }
        RequestRules.checkSelectors(selector.at("selectors"), expressions);
    }
}
