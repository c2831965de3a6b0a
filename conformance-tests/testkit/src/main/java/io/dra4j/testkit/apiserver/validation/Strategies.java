// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.cel.DeviceExpressions;
import io.dra4j.rules.ClassRules;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The strategies of all kinds that have one. */
public final class Strategies {
    private Strategies() {}

    /**
     * @param store has the namespaces of the claims
     */
    public static Map<String, Strategy> of(
            FeatureGates gates, MetadataRules metadata, ResourceKinds kinds, ObjectStore store) {
        ExpressionCompiler compiler = new DeviceExpressions(gates);
        AdminAccess adminAccess = new AdminAccess(kinds, store);
        return Map.of(
                "resourceslices", new SliceStrategy(gates, metadata),
                "resourceclaims", new ClaimStrategy(gates, compiler, adminAccess),
                "resourceclaimtemplates", new TemplateStrategy(gates, compiler, adminAccess),
                "deviceclasses", new DeviceClasses(gates, compiler),
                "devicetaintrules", new TaintRuleStrategy(gates.version(), compiler, metadata),
                "events", new EventStrategy(false),
                "events.events.k8s.io", new EventStrategy(true),
                "pods", new FirstPhase("Pending"),
                "namespaces", new FirstPhase("Active"));
    }

    private record DeviceClasses(FeatureGates gates, ExpressionCompiler compiler) implements Strategy {
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            GatedFields.drop(GatedFields.OF_CLASSES, gates, next, old);
            Json.child(next, "spec");
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            ClassRules.check(next.path("spec"), compiler, errors);
        }
    }

    /** Kinds that start in a phase. */
    private record FirstPhase(String phase) implements Strategy {
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            if (old == null) {
                Json.child(next, "status").put("phase", phase);
            }
        }
    }
}
