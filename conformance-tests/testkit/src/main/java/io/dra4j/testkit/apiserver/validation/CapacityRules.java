// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import java.math.BigInteger;
import java.util.HashSet;
import java.util.Set;

/** Rules for capacities and for the part of one that a request may take. */
final class CapacityRules {
    private static final int VALID_VALUES = 10;
    private static final String OVER_CAPACITY = "must not exceed the capacity value";

    private CapacityRules() {}

    static void check(Field device) {
        boolean shared = device.value().path("allowMultipleAllocations").asBoolean();
        Field capacities = device.at("capacity");
        for (String key : capacities.keys()) {
            AttributeRules.checkKey(key, capacities);
            Field policy = capacities.key(key).at("requestPolicy");
            if (policy.value().isMissingNode()) {
                continue;
            }
            if (shared) {
                checkPolicy(policy, value(capacities.key(key).at("value")));
            } else {
                policy.forbidden("must not be set unless `allowMultipleAllocations` is true");
            }
        }
    }

    private static void checkPolicy(Field policy, BigInteger capacity) {
        Field values = policy.at("validValues");
        Field range = policy.at("validRange");
        Field preset = policy.at("default");
        boolean byRange = !range.value().isMissingNode();
        boolean byValues = values.size() > 0;
        if (byRange && byValues) {
            policy.forbidden("validValues and validRange must not be set together");
        } else if (!preset.present()) {
            if (byRange || byValues) {
                preset.required("required when validValues or validRange is set");
            }
        } else if (byValues) {
            checkValues(values, preset, capacity);
        } else if (byRange) {
            checkRange(range, preset, capacity);
        }
    }

    private static void checkValues(Field values, Field preset, BigInteger capacity) {
        values.requireAtMost(VALID_VALUES);
        Set<BigInteger> seen = new HashSet<>();
        BigInteger last = null;
        for (Field entry : values.items()) {
            BigInteger value = value(entry);
            entry.requireThat(value.compareTo(capacity) <= 0, OVER_CAPACITY);
            if (!seen.add(value)) {
                entry.errors().duplicate(entry.path(), entry.text());
            } else if (last != null && value.compareTo(last) < 0) {
                values.invalid(entry.text(), "must be sorted in ascending order");
            }
            last = value;
        }
        BigInteger chosen = value(preset);
        preset.requireThat(seen.contains(chosen), chosen, "must be one of validValues");
    }

    private static void checkRange(Field range, Field preset, BigInteger capacity) {
        Field min = range.at("min");
        Field max = range.at("max");
        if (!min.present()) {
            min.required("");
            return;
        }
        atMost(value(min), capacity, min, OVER_CAPACITY);
        atMost(value(min), value(preset), preset, "must not be less than validRange.min");
        if (max.present()) {
            atMost(value(min), value(max), min, "must not exceed validRange.max");
            atMost(value(max), capacity, max, OVER_CAPACITY);
            atMost(value(preset), value(max), preset, "must not exceed validRange.max");
        }
        if (range.at("step").present()) {
            checkStep(range, preset, capacity);
        }
    }

    private static void checkStep(Field range, Field preset, BigInteger capacity) {
        Field step = range.at("step");
        BigInteger min = value(range.at("min"));
        if (value(step).signum() <= 0) {
            step.invalid(value(step), "must be greater than zero");
            return;
        }
        String rule = "one step above min must not exceed the capacity";
        atMost(min.add(value(step)), capacity, step, rule);
        multiple(preset, min, step);
        if (range.at("max").present()) {
            multiple(range.at("max"), min, step);
        }
    }

    private static void atMost(BigInteger value, BigInteger limit, Field field, String rule) {
        field.requireThat(value.compareTo(limit) <= 0, value, rule);
    }

    private static void multiple(Field field, BigInteger min, Field step) {
        BigInteger distance = value(field).subtract(min);
        boolean whole = distance.mod(value(step)).signum() == 0;
        field.requireThat(whole, distance, "must be a multiple of step away from min");
    }

    private static BigInteger value(Field field) {
        return Quantities.value(field.value().asText("0"));
    }
}
