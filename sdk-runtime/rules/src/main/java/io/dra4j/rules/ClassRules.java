// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;

/** The rules for DeviceClasses. */
public final class ClassRules {
    private static final int CONFIGS = 32;
    private static final String QUOTA_PREFIX = "requests.";

    private ClassRules() {}

    public static void check(JsonNode classSpec, ExpressionCompiler compiler, FieldErrors errors) {
        Field spec = new Field(classSpec, "spec", errors);
        RequestRules.checkSelectors(spec.at("selectors"), new ExpressionRules(compiler));
        if (spec.at("config").requireAtMost(CONFIGS)) {
            spec.at("config").items().forEach(ConfigRules::check);
        }
        Field extended = spec.at("extendedResourceName");
        extended.requireThat(
                !extended.present() || isExtended(extended.text()), "must be a valid extended resource name");
    }

    /** Returns whether the name has a domain other than Kubernetes' own, and is valid as the name of a quota. */
    private static boolean isExtended(String name) {
        return name.contains("/")
                && !name.contains("kubernetes.io/")
                && !name.startsWith(QUOTA_PREFIX)
                && Names.qualifiedNameProblems(QUOTA_PREFIX + name).isEmpty();
    }
}
