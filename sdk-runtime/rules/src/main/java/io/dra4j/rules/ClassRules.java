// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;

/** The rules for DeviceClasses. */
public final class ClassRules {
    private ClassRules() {}

    /** Checks a spec. */
    public static void check(JsonNode classSpec, ExpressionCompiler compiler, FieldErrors errors) {
        Field spec = new Field(classSpec, "spec", errors);
        RequestRules.checkSelectors(spec.at("selectors"), new ExpressionRules(compiler));
        RequestRules.checkConfigs(spec.at("config"), RequestRules.CONFIGS);
    }
}
