// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.ClaimRules;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The strategy of ResourceClaims: an immutable spec, and a status that scheduler and drivers share.
 */
final class ClaimStrategy implements Strategy {
    private final FeatureGates gates;
    private final ExpressionCompiler compiler;
    private final AdminAccess adminAccess;

    ClaimStrategy(FeatureGates gates, ExpressionCompiler compiler, AdminAccess adminAccess) {
        this.gates = gates;
        this.compiler = compiler;
        this.adminAccess = adminAccess;
    }

    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        GatedFields.drop(GatedFields.OF_CLAIMS, gates, next, old);
        ClaimRules.setDefaults(next.path("spec"));
        ClaimRules.setStatusDefaults(next.path("status"));
        if (part == Part.STATUS && old != null) {
            forgetDeallocated(next, old);
        }
        ClaimForm.ofSpec(next);
        ClaimForm.ofStatus(next);
    }

    /** Entries of devices that this very write deallocates go with them. */
    private static void forgetDeallocated(ObjectNode next, ObjectNode old) {
        if (Json.at(next, "status", "devices") instanceof ArrayNode devices) {
            Set<String> before = ClaimRules.allocated(old);
            before.removeAll(ClaimRules.allocated(next));
            devices.removeIf(device -> before.contains(ClaimRules.deviceKey(device)));
        }
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        if (old == null) {
            adminAccess.check(next, next.path("spec"), errors);
            ClaimRules.checkSpec(next.path("spec"), "spec", gates, compiler, errors);
        } else if (!next.path("spec").equals(old.path("spec"))) {
            errors.invalid("spec", next.path("spec"), "field is immutable");
        }
        if (part == Part.STATUS) {
            ObjectNode before = old == null ? Json.object() : old;
            adminAccess.checkStatus(next, before, errors);
            ClaimRules.checkStatus(next, before, errors);
        }
    }
}
