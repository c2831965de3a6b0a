// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/** Rules for capacities and for the part of one that a request may take. */
final class CapacityRules {
    private static final int VALID_VALUES = 10;
    private static final int MILLI = 3;
    private static final BigDecimal LARGEST_MILLI = BigDecimal.valueOf(Long.MAX_VALUE, MILLI);
    private static final String OVER_CAPACITY = "must not exceed the capacity value";

    private final boolean fractional;

    /**
     * @param fractional whether the gate is on with which fractions count; without it, steps and
     *     equal values are found among values that are rounded up to integers
     */
    CapacityRules(boolean fractional) {
        this.fractional = fractional;
    }

    void check(Field device) {
        boolean shared = device.value().path("allowMultipleAllocations").asBoolean();
        Field capacities = device.at("capacity");
        for (String key : capacities.keys()) {
            AttributeRules.checkKey(key, capacities);
            Field policy = capacities.key(key).at("requestPolicy");
            if (policy.value().isMissingNode()) {
                continue;
            }
            if (shared) {
                checkPolicy(policy, exact(capacities.key(key).at("value")));
            } else {
                policy.forbidden("must not be set unless `allowMultipleAllocations` is true");
            }
        }
    }

    private void checkPolicy(Field policy, BigDecimal capacity) {
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

    private void checkValues(Field values, Field preset, BigDecimal capacity) {
        values.requireAtMost(VALID_VALUES);
        Set<BigDecimal> seen = new HashSet<>();
        BigDecimal last = null;
        boolean hasPreset = false;
        for (Field entry : values.items()) {
            BigDecimal value = exact(entry);
            atMost(value, capacity, entry, OVER_CAPACITY);
            if (!seen.add(counted(value, fractional))) {
                entry.errors().duplicate(entry.path(), entry.text());
            } else if (last != null && value.compareTo(last) < 0) {
                values.invalid(entry.text(), "must be sorted in ascending order");
            }
            last = value;
            hasPreset |= value.compareTo(exact(preset)) == 0;
        }
        preset.requireThat(hasPreset, "must be one of validValues");
    }

    private void checkRange(Field range, Field preset, BigDecimal capacity) {
        Field min = range.at("min");
        Field max = range.at("max");
        if (!min.present()) {
            min.required("");
            return;
        }
        atMost(exact(min), capacity, min, OVER_CAPACITY);
        atMost(exact(min), exact(preset), preset, "must not be less than validRange.min");
        if (max.present()) {
            atMost(exact(min), exact(max), min, "must not exceed validRange.max");
            atMost(exact(max), capacity, max, OVER_CAPACITY);
            atMost(exact(preset), exact(max), preset, "must not exceed validRange.max");
        }
        Field step = range.at("step");
        boolean milli = fractional && Stream.of(min, max, step).anyMatch(CapacityRules::isFraction);
        boolean countable = !milli || areMilli(preset, min, max, step);
        if (step.present() && countable) {
            checkStep(range, preset, capacity, milli);
        }
    }

    private static boolean isFraction(Field field) {
        return exact(field).stripTrailingZeros().scale() > 0;
    }

    /** Refuses every value that a 64-bit number of milli-units cannot hold. */
    private static boolean areMilli(Field... fields) {
        boolean all = true;
        for (Field field : fields) {
            BigDecimal value = exact(field);
            boolean fits =
                    value.stripTrailingZeros().scale() <= MILLI
                            && value.abs().compareTo(LARGEST_MILLI) <= 0;
            field.requireThat(fits, "must be a 64-bit number of milli-units");
            all &= fits;
        }
        return all;
    }

    private static void checkStep(Field range, Field preset, BigDecimal capacity, boolean milli) {
        Field step = range.at("step");
        BigDecimal min = exact(range.at("min"));
        if (exact(step).signum() <= 0) {
            step.invalid("must be greater than zero");
            return;
        }
        String rule = "one step above min must not exceed the capacity";
        atMost(min.add(exact(step)), capacity, step, rule);
        multiple(preset, min, step, milli);
        if (range.at("max").present()) {
            multiple(range.at("max"), min, step, milli);
        }
    }

    private static void atMost(BigDecimal value, BigDecimal limit, Field field, String rule) {
        field.requireThat(value.compareTo(limit) <= 0, rule);
    }

    private static void multiple(Field field, BigDecimal min, Field step, boolean milli) {
        BigDecimal distance = counted(exact(field), milli).subtract(counted(min, milli));
        boolean whole = distance.remainder(counted(exact(step), milli)).signum() == 0;
        field.requireThat(whole, "must be a multiple of step away from min");
    }

    /** The value as it is compared: with its fraction, or rounded up to an integer. */
    private static BigDecimal counted(BigDecimal value, boolean withFraction) {
        return withFraction ? value.stripTrailingZeros() : value.setScale(0, RoundingMode.CEILING);
    }

    private static BigDecimal exact(Field field) {
        return Quantities.exact(field.value().asText("0"));
    }
}
