// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.Node;
import io.dra4j.rules.FeatureGate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks of a device that do not depend on other claims: gates, selectors, its own nodes. */
record Selection(Behaviour behaviour, Expressions expressions, Node node) {
    /** Returns why a device cannot be selected, or null. */
    @Nullable
    Obstacle check(Plan plan, Candidate candidate) {
        FeatureGate binding = FeatureGate.DRA_DEVICE_BINDING_CONDITIONS;
        if (!candidate.device().bindingConditions().isEmpty() && !behaviour.enabled(binding)) {
            return new Obstacle.GateOff(binding.text());
        }
        String deviceClass = plan.deviceClass().name();
        Obstacle ofClass = select(plan.deviceClass().selectors(), candidate, "class " + deviceClass, deviceClass);
        if (ofClass != null) {
            return ofClass;
        }
        Obstacle ofRequest = select(
                plan.asked().selectors(), candidate, "claim " + plan.claim().fullName(), null);
        if (ofRequest != null) {
            return ofRequest;
        }
        boolean here =
                !candidate.slice().perDevice() || candidate.device().nodes().includes(node);
        return here ? null : new Obstacle.OtherNode(node.name());
    }

    private @Nullable Obstacle select(
            List<String> selectors, Candidate candidate, String owner, @Nullable String deviceClass) {
        for (int i = 0; i < selectors.size(); i++) {
            String expression = selectors.get(i);
            String selector = owner + ": selector #" + i;
            if (!expressions.matches(expression, candidate, selector, place(candidate))) {
                return new Obstacle.NotSelected(deviceClass, i, expression);
            }
        }
        return null;
    }

    private String place(Candidate candidate) {
        return behaviour.has(Trait.ERRORS_NAME_DEVICES) ? " on device " + candidate.id() : "";
    }
}
