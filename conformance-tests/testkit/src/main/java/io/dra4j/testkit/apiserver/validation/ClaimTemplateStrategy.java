// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.FeatureGates;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import org.jspecify.annotations.Nullable;

/** The strategy of ResourceClaimTemplates. */
record ClaimTemplateStrategy(FeatureGates gates) implements Strategy {
    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        RequestRules.setDefaults(Json.at(next, "spec", "spec"));
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        if (old == null) {
            RequestRules.check(Json.at(next, "spec", "spec"), "spec.spec", errors);
        } else if (!next.path("spec").equals(old.path("spec"))) {
            errors.invalid("spec", next.path("spec"), "field is immutable");
        }
    }
}
