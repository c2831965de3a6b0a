// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.Set;

/** Rules for capacities and for how much of one a request may take. */
final class CapacityRules {
    private static final int VALID_VALUES = 10;

    private CapacityRules() {}

    static void check(JsonNode device, String path, FieldErrors errors) {
        boolean shared = device.path("allowMultipleAllocations").asBoolean();
        device.path("capacity")
                .properties()
                .forEach(
                        capacity -> {
                            AttributeRules.checkKey(capacity.getKey(), path + ".capacity", errors);
                            String entry = path + ".capacity[" + capacity.getKey() + "]";
                            JsonNode policy = capacity.getValue().path("requestPolicy");
                            if (policy.isMissingNode()) {
                                return;
                            }
                            if (shared) {
                                checkPolicy(
                                        policy,
                                        value(capacity.getValue(), "value"),
                                        entry + ".requestPolicy",
                                        errors);
                            } else {
                                errors.forbidden(
                                        entry + ".requestPolicy",
                                        "must not be set unless `allowMultipleAllocations` is true");
                            }
                        });
    }

    private static void checkPolicy(
            JsonNode policy, BigInteger capacity, String path, FieldErrors errors) {
        JsonNode values = policy.path("validValues");
        JsonNode range = policy.path("validRange");
        boolean byRange = !range.isMissingNode();
        boolean byValues = !values.isEmpty();
        if (byRange && byValues) {
            errors.forbidden(path, "validValues and validRange must not be set together");
            return;
        }
        if (!Json.present(policy, "default")) {
            if (byRange || byValues) {
                errors.required(
                        path + ".default", "required when validValues or validRange is set");
            }
            return;
        }
        BigInteger preset = value(policy, "default");
        if (byValues) {
            checkValues(values, preset, capacity, path, errors);
        } else if (byRange) {
            checkRange(range, preset, capacity, path, errors);
        }
    }

    private static void checkValues(
            JsonNode values,
            BigInteger preset,
            BigInteger capacity,
            String path,
            FieldErrors errors) {
        if (values.size() > VALID_VALUES) {
            errors.tooMany(path + ".validValues", values.size(), VALID_VALUES);
        }
        Set<BigInteger> seen = new HashSet<>();
        BigInteger last = null;
        for (int i = 0; i < values.size(); i++) {
            String entry = path + ".validValues[" + i + "]";
            String text = values.get(i).asText();
            BigInteger value = Quantities.value(text);
            if (value.compareTo(capacity) > 0) {
                errors.invalid(entry, text, "must not exceed the capacity value");
            }
            if (!seen.add(value)) {
                errors.duplicate(entry, text);
            } else if (last != null && value.compareTo(last) < 0) {
                errors.invalid(path + ".validValues", text, "must be sorted in ascending order");
            }
            last = value;
        }
        if (!seen.contains(preset)) {
            errors.invalid(path + ".default", preset, "must be one of validValues");
        }
    }

    private static void checkRange(
            JsonNode range,
            BigInteger preset,
            BigInteger capacity,
            String path,
            FieldErrors errors) {
        if (!Json.present(range, "min")) {
            errors.required(path + ".validRange.min", "");
            return;
        }
        BigInteger min = value(range, "min");
        atMost(
                min,
                capacity,
                path + ".validRange.min",
                "must not exceed the capacity value",
                errors);
        atMost(min, preset, path + ".default", "must not be less than validRange.min", errors);
        if (Json.present(range, "max")) {
            BigInteger max = value(range, "max");
            atMost(min, max, path + ".validRange.min", "must not exceed validRange.max", errors);
            atMost(
                    max,
                    capacity,
                    path + ".validRange.max",
                    "must not exceed the capacity value",
                    errors);
            atMost(preset, max, path + ".default", "must not exceed validRange.max", errors);
        }
        checkStep(range, min, preset, capacity, path, errors);
    }

    private static void checkStep(
            JsonNode range,
            BigInteger min,
            BigInteger preset,
            BigInteger capacity,
            String path,
            FieldErrors errors) {
        if (!Json.present(range, "step")) {
            return;
        }
        BigInteger step = value(range, "step");
        if (step.signum() <= 0) {
            errors.invalid(path + ".validRange.step", step, "must be greater than zero");
            return;
        }
        atMost(
                min.add(step),
                capacity,
                path + ".validRange.step",
                "one step above min must not exceed the capacity",
                errors);
        multiple(preset.subtract(min), step, path + ".default", errors);
        if (Json.present(range, "max")) {
            multiple(value(range, "max").subtract(min), step, path + ".validRange.max", errors);
        }
    }

    private static void atMost(
            BigInteger value, BigInteger limit, String field, String rule, FieldErrors errors) {
        if (value.compareTo(limit) > 0) {
            errors.invalid(field, value, rule);
        }
    }

    private static void multiple(
            BigInteger distance, BigInteger step, String field, FieldErrors errors) {
        if (distance.mod(step).signum() != 0) {
            errors.invalid(field, distance, "must be a multiple of step away from min");
        }
    }

    private static BigInteger value(JsonNode parent, String field) {
        return Quantities.value(parent.path(field).asText("0"));
    }
}
