// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules for node selectors.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/">Assigning
 *     Pods to Nodes: operators</a>
 */
final class SelectorRules {

    /** All numbers of this form fit 64 bits, and more digits no label needs. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private SelectorRules() {}

    static void check(Field field, NodeSelector selector) {
        Field term = field.child("nodeSelectorTerms").item(0);
        if (selector.requirements().isEmpty()) {
            term.refuse("must have a requirement, as it matches no node without", List.of());
        }
        int labels = 0;
        int fields = 0;
        for (Requirement requirement : selector.requirements()) {
            if (requirement.subject() == Subject.FIELD) {
                ofField(term.child("matchFields").item(fields++), requirement);
            } else {
                ofLabel(term.child("matchExpressions").item(labels++), requirement);
            }
        }
    }

    private static void ofLabel(Field field, Requirement requirement) {
        field.child("subject").requires(requirement.subject());
        Names.labelName(field.child("key"), requirement.key());
        List<String> values = requirement.values();
        for (int i = 0; i < values.size(); i++) {
            Names.labelValue(field.child("values").item(i), values.get(i));
        }
        if (field.child("operator").requires(requirement.operator())) {
            values(field.child("values"), requirement.operator(), values);
        }
    }

    private static void values(Field field, Operator operator, List<String> values) {
        switch (operator) {
            case IN, NOT_IN -> field.requiresSome(values);
            case EXISTS, DOES_NOT_EXIST -> {
                if (!values.isEmpty()) {
                    field.refuse("must be absent with " + operator.apiName(), values);
                }
            }
            case GREATER_THAN, LESS_THAN -> {
                if (values.size() != 1 || !NUMBER.matcher(values.get(0)).matches()) {
                    field.refuse("must be one whole number with " + operator.apiName(), values);
                }
            }
        }
    }

    private static void ofField(Field field, Requirement requirement) {
        if (!"metadata.name".equals(requirement.key())) {
            field.child("key").refuse("must be metadata.name", requirement.key());
        }
        @Nullable Operator operator = requirement.operator();
        if (operator != Operator.IN && operator != Operator.NOT_IN) {
            field.child("operator").refuse("must be In or NotIn for a field", operator);
        }
        List<String> values = requirement.values();
        if (values.size() != 1) {
            field.child("values").refuse("must be one value for a field", values);
        } else {
            Names.nodeName(field.child("values").item(0), values.get(0));
        }
    }
}
