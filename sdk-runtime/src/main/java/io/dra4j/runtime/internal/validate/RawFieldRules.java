// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rules for fields that the SDK has no type for: only the API server knows their meaning. */
final class RawFieldRules {

    private static final Set<String> TYPED =
            Set.of(
                    "name",
                    "attributes",
                    "capacity",
                    "allowMultipleAllocations",
                    "consumesCounters",
                    "taints",
                    "nodeName",
                    "nodeSelector",
                    "allNodes",
                    "bindingConditions",
                    "bindingFailureConditions",
                    "bindsToNode",
                    "nodeAllocatableResourceMappings",
                    "nodeAllocatableResources");

    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9]{0,62}");

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private RawFieldRules() {}

    static void check(Field device, Map<String, String> rawFields) {
        rawFields.forEach((name, json) -> check(device, name, json));
    }

    private static void check(Field device, @Nullable String name, @Nullable String json) {
        if (name == null || !FIELD_NAME.matcher(name).matches()) {
            device.child("rawFields").refuse("must be named as fields of the API are", name);
            return;
        }
        Field field = device.child(name);
        if (TYPED.contains(name)) {
            field.refuse("must be set by its own method, not as a raw field", json);
        } else if (field.requires(json)) {
            value(field, json);
        }
    }

    private static void value(Field field, String json) {
        try {
            JsonNode value = MAPPER.readTree(json);
            if (value.isMissingNode() || value.isNull()) {
                field.refuse("must be a JSON value, not null or nothing", json);
            }
        } catch (JsonProcessingException e) {
            field.refuse("must be JSON (" + Shown.name(e.getOriginalMessage()) + ")", json);
        }
    }
}
