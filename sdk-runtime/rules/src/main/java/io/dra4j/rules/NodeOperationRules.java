// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for the calls of the kubelet that devices do not need. */
final class NodeOperationRules {
    private static final String PREPARE = "NodePrepareResources";
    private static final String UNPREPARE = "NodeUnprepareResources";
    private static final String ALL = "*";

    private NodeOperationRules() {}

    static void check(Field skipped) {
        Set<String> seen = new HashSet<>();
        for (Field operation : skipped.items()) {
            operation.requireOneOf(List.of(ALL, PREPARE, UNPREPARE));
            operation.requireUnique(seen);
        }
        boolean stuck = seen.contains(PREPARE) && !seen.contains(UNPREPARE) && !seen.contains(ALL);
        String rule = PREPARE + " cannot be skipped unless " + UNPREPARE + " is also skipped";
        skipped.requireThat(!stuck, skipped.value().toString(), rule);
    }
}
