// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.FeatureGates;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import org.jspecify.annotations.Nullable;

/**
 * The strategy of DeviceClasses. CEL expressions are not evaluated, nor checked beyond their
 * length.
 */
record DeviceClassStrategy(FeatureGates gates) implements Strategy {
    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        GatedFields.drop(GatedFields.OF_CLASSES, gates, next, old);
        Json.child(next, "spec");
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        JsonNode spec = next.path("spec");
        RequestRules.checkSelectors(spec.path("selectors"), "spec.selectors", errors);
        RequestRules.checkConfigs(spec.path("config"), "spec.config", RequestRules.CONFIGS, errors);
    }
}
