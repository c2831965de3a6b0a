// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.SliceRules;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The strategy of ResourceSlices. */
final class SliceStrategy implements Strategy {
    private final FeatureGates gates;
    private final MetadataRules metadata;
    private final SliceRules rules;

    public SliceStrategy(FeatureGates gates, MetadataRules metadata) {
        this.gates = gates;
        this.metadata = metadata;
        this.rules = new SliceRules(gates);
    }

    @Override
    public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
        GatedFields.drop(GatedFields.OF_SLICES, gates, next, old);
        for (JsonNode device : Json.at(next, "spec", "devices")) {
            dropEmptyMaps((ObjectNode) device);
            for (JsonNode taint : device.path("taints")) {
                setDefault(taint, "timeAdded", metadata.now());
            }
            for (JsonNode mapping : device.path("nodeAllocatableResourceMappings")) {
                setDefault(mapping, "allocationMultiplier", "1");
            }
        }
    }

    private static void dropEmptyMaps(ObjectNode device) {
        for (String field : List.of("attributes", "capacity")) {
            if (device.path(field).isObject() && device.path(field).isEmpty()) {
                device.remove(field);
            }
        }
    }

    private static void setDefault(JsonNode object, String field, String value) {
        if (object instanceof ObjectNode fields && !fields.hasNonNull(field)) {
            fields.put(field, value);
        }
    }

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        if (old == null) {
            rules.check(next.path("spec"), errors);
        } else {
            rules.checkUpdate(next.path("spec"), old.path("spec"), errors);
        }
    }
}
