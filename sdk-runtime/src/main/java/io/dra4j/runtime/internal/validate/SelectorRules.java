// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules for node selectors that an API server takes, but that match no node.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/">Assigning
 *     Pods to Nodes: operators</a>
 */
final class SelectorRules {

    /** All numbers of this form fit 64 bits, and more digits no label needs. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private SelectorRules() {}

    static void check(Field field, @Nullable Placement placement) {
        if (placement instanceof Placement.MatchingNodes matching) {
            check(field.child("nodeSelectorTerms").item(0), matching.selector());
        }
    }

    private static void check(Field term, NodeSelector selector) {
        if (selector.requirements().isEmpty()) {
            term.refuse("must have a requirement, as it matches no node without", List.of());
        }
        List<Requirement> ofLabels = selector.requirements().stream()
                .filter(requirement -> requirement.subject() == Subject.LABEL)
                .toList();
        for (int i = 0; i < ofLabels.size(); i++) {
            number(term.child("matchExpressions").item(i).child("values"), ofLabels.get(i));
        }
    }

    private static void number(Field field, Requirement requirement) {
        Operator operator = requirement.operator();
        List<String> values = requirement.values();
        if ((operator == Operator.GREATER_THAN || operator == Operator.LESS_THAN)
                && values.size() == 1
                && !NUMBER.matcher(values.get(0)).matches()) {
            field.refuse("must be one whole number with " + operator.apiName(), values);
        }
    }
}
