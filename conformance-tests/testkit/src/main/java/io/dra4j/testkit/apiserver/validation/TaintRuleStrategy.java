// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.TaintRuleRules;
import io.dra4j.testkit.apiserver.model.Json;
import org.jspecify.annotations.Nullable;

/** The strategy of DeviceTaintRules: a selection of devices, and the taint that they get. */
final class TaintRuleStrategy implements Strategy {
    private final KubernetesVersion version;
    private final ExpressionCompiler compiler;
    private final MetadataRules metadata;

    TaintRuleStrategy(KubernetesVersion version, ExpressionCompiler compiler, MetadataRules metadata) {
        this.version = version;
        this.compiler = compiler;
        this.metadata = metadata;
    }

    /** The time of a taint is that of its effect: a new effect has a new time. */
    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        if (!(Json.at(next, "spec", "taint") instanceof ObjectNode taint)) {
            return;
        }
        JsonNode before = old == null ? Json.object() : Json.at(old, "spec", "taint");
        boolean renewed = version.atLeast(KubernetesVersion.V1_36)
                && !before.path("effect").equals(taint.path("effect"))
                && before.path("timeAdded").equals(taint.path("timeAdded"));
        if (!taint.hasNonNull("timeAdded") || renewed) {
            taint.put("timeAdded", metadata.now());
        }
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        TaintRuleRules.check(next.path("spec"), compiler, errors);
        if (part == Part.STATUS) {
            TaintRuleRules.checkStatus(next.path("status"), errors);
        }
    }
}
