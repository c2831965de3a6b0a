// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules for the conditions of a status. */
final class ConditionRules {
    private static final int REASON_LENGTH = 1024;
    private static final int MESSAGE_LENGTH = 32768;
    private static final String REASON_FORM = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
    private static final Pattern REASON = Pattern.compile(REASON_FORM);
    private static final String REASON_RULE =
            "a condition reason must start with alphabetic character, optionally followed by a string"
                    + " of alphanumeric characters or '_,:', and must end with an alphanumeric character"
                    + " or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or"
                    + " 'ReasonA:ReasonB', regex used for validation is '"
                    + REASON_FORM
                    + "')";
    private static final List<String> STATUSES = List.of("False", "True", "Unknown");

    /** The time that the server treats as unset. */
    private static final String NO_TIME = "0001-01-01T00:00:00Z";

    private ConditionRules() {}

    static void check(Field conditions) {
        Set<String> types = new HashSet<>();
        for (Field condition : conditions.items()) {
            condition.at("type").requireUnique(types);
            checkCondition(condition);
        }
    }

    private static void checkCondition(Field condition) {
        condition.at("type").requireForm(Names::qualifiedNameProblems);
        condition.at("status").requireOneOf(STATUSES);
        condition.at("observedGeneration").requireNotNegative();
        Field time = condition.at("lastTransitionTime");
        if (!time.present() || time.text().equals(NO_TIME)) {
            time.required("");
        }
        Field reason = condition.at("reason");
        if (reason.requireText()) {
            reason.requireThat(REASON.matcher(reason.text()).matches(), REASON_RULE);
            reason.requireLength(REASON_LENGTH);
        }
        condition.at("message").requireLength(MESSAGE_LENGTH);
    }
}
