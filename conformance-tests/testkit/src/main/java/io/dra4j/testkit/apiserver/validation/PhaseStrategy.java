// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.Json;
import org.jspecify.annotations.Nullable;

/** Kinds that begin their life in a phase. */
record PhaseStrategy(String firstPhase) implements Strategy {
    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        if (old == null) {
            Json.child(next, "status").put("phase", firstPhase);
        }
    }
}
