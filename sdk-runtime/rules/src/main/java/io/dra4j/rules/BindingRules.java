// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.HashSet;
import java.util.Set;

/** Rules for the conditions that a device must meet before its claim is bound. */
final class BindingRules {
    private static final int CONDITIONS = 4;

    private BindingRules() {}

    static void check(Field device) {
        Field conditions = device.at("bindingConditions");
        Field failures = device.at("bindingFailureConditions");
        checkNames(conditions);
        checkNames(failures);
        Set<String> awaited = new HashSet<>();
        conditions.items().forEach(condition -> condition.requireUnique(awaited));
        Set<String> seen = new HashSet<>();
        for (Field failure : failures.items()) {
            failure.requireUnique(seen);
            String rule = "bindingFailureConditions must not overlap with bindingConditions";
            failure.requireThat(!awaited.contains(failure.text()), rule);
        }
        requireBoth(conditions, failures);
    }

    private static void checkNames(Field conditions) {
        if (conditions.requireAtMost(CONDITIONS)) {
            conditions.items().forEach(one -> one.requireForm(Names::qualifiedNameProblems));
        }
    }

    private static void requireBoth(Field conditions, Field failures) {
        if (conditions.size() == 0 && failures.size() > 0) {
            conditions.invalidValue("bindingConditions are required to use bindingFailureConditions");
        }
        if (failures.size() == 0 && conditions.size() > 0) {
            failures.invalidValue("bindingFailureConditions are required to use bindingConditions");
        }
    }
}
