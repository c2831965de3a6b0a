// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.ClaimRules;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.Field;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The strategy of ResourceClaimTemplates: an immutable spec, with the metadata of claims. */
record TemplateStrategy(FeatureGates gates, ExpressionCompiler compiler, AdminAccess adminAccess) implements Strategy {
    private static final Set<String> METADATA = Set.of("labels", "annotations");

    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        GatedFields.drop(GatedFields.OF_TEMPLATES, gates, next, old);
        ClaimRules.setDefaults(Json.at(next, "spec", "spec"));
        ObjectNode spec = Json.child(next, "spec");
        ObjectNode metadata = Json.child(spec, "metadata");
        Json.names(metadata).stream()
                .filter(name -> isEmpty(metadata.path(name)))
                .forEach(metadata::remove);
        ClaimForm.ofSpec(spec);
    }

    private static boolean isEmpty(JsonNode value) {
        return value.isContainerNode()
                ? value.isEmpty()
                : value.asText().isEmpty() || value.asText().equals("0");
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        if (old == null) {
            adminAccess.check(next, Json.at(next, "spec", "spec"), errors);
            Field spec = new Field(next.path("spec"), "spec", errors);
            for (String name : Json.names(spec.at("metadata").value())) {
                if (!METADATA.contains(name)) {
                    errors.forbidden(spec.at("metadata").at(name).path(), "cannot be set");
                }
            }
            ClaimRules.checkSpec(Json.at(next, "spec", "spec"), "spec.spec", gates, compiler, errors);
        } else if (!next.path("spec").equals(old.path("spec"))) {
            errors.invalid("spec", next.path("spec"), "field is immutable");
        }
    }
}
