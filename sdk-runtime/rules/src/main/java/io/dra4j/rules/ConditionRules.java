// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules for the conditions of a status. */
final class ConditionRules {
    private static final int CONDITIONS = 8;
    private static final int REASON_LENGTH = 1024;
    private static final int MESSAGE_LENGTH = 32768;
    private static final Pattern REASON = Pattern.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");
    private static final List<String> STATUSES = List.of("False", "True", "Unknown");

    private ConditionRules() {}

    static void check(Field conditions) {
        conditions.requireAtMost(CONDITIONS);
        Set<String> types = new HashSet<>();
        for (Field condition : conditions.items()) {
            if (condition.at("type").requireText()) {
                condition.at("type").requireForm(Names::qualifiedNameProblems);
            }
            condition.at("type").requireUnique(types);
            checkCondition(condition);
        }
    }

    private static void checkCondition(Field condition) {
        condition.at("status").requireOneOf(STATUSES);
        Field reason = condition.at("reason");
        if (reason.requireText() && reason.requireLength(REASON_LENGTH)) {
            boolean valid = REASON.matcher(reason.text()).matches();
            reason.requireThat(valid, "a condition reason must start with alphabetic character");
        }
        condition.at("message").requireLength(MESSAGE_LENGTH);
        if (!condition.value().has("lastTransitionTime")) {
            condition.at("lastTransitionTime").required("");
        }
        condition.at("observedGeneration").requireNotNegative();
    }
}
