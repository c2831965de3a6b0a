// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Rules for capacities and for the amount of one that a request may take. */
record CapacityRules(FeatureGates gates) {

    void check(Field device) {
        boolean shared = device.value().path("allowMultipleAllocations").asBoolean();
        AttributeKeys keys = new AttributeKeys(gates.version());
        Field capacities = device.at("capacity");
        for (String key : capacities.keys()) {
            Field capacity = keys.checked(capacities, key);
            Field policy = capacity.at("requestPolicy");
            if (policy.present() && shared) {
                checkPolicy(policy, Quantity.of(capacity.at("value")));
            } else if (policy.present()) {
                policy.forbidden("allowMultipleAllocations must be true");
            }
        }
    }

    void checkPolicy(Field policy, Quantity capacity) {
        Field values = policy.at("validValues");
        Field range = policy.at("validRange");
        boolean byValues = values.size() > 0;
        if (byValues && range.present()) {
            policy.forbidden(
                    "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time");
        } else if (byValues || range.present()) {
            Field preset = policy.at("default");
            if (!preset.present()) {
                String field = byValues ? "validValues" : "validRange";
                preset.required("required when " + field + " is defined");
            } else if (byValues) {
                new ValueRules(gates).check(values, Quantity.of(preset), capacity);
            } else {
                new RangeRules(gates).check(range, Quantity.of(preset), capacity);
            }
        }
    }

    /**
     * A quantity of a policy.
     *
     * @param exact with its fraction
     */
    record Quantity(String text, BigDecimal exact) {
        static Quantity of(Field field) {
            String text = field.present() ? field.text() : "0";
            return new Quantity(text, Quantities.exact(text));
        }

        boolean exceeds(Quantity limit) {
            return exact.compareTo(limit.exact) > 0;
        }

        long value(KubernetesVersion version) {
            return Quantities.value(exact, version);
        }
    }

    /** Rules for the amounts that requests may take from a capacity. */
    private record ValueRules(FeatureGates gates) {
        private static final int VALUES = 10;

        void check(Field values, Quantity preset, Quantity capacity) {
            List<Field> items = values.items();
            for (int i = 1; i < items.size(); i++) {
                boolean sorted = !Quantity.of(items.get(i - 1)).exceeds(Quantity.of(items.get(i)));
                items.get(i).requireThat(sorted, "values must be sorted in ascending order");
            }
            boolean hasPreset = false;
            if (values.requireAtMost(VALUES)) {
                for (Field item : items) {
                    Quantity value = Quantity.of(item);
                    String rule = "option is larger than capacity value: " + capacity.text();
                    item.requireThat(!value.exceeds(capacity), rule);
                    hasPreset |= value.exact().compareTo(preset.exact()) == 0;
                }
                Set<String> seen = new HashSet<>();
                items.forEach(item -> item.requireUnique(key(Quantity.of(item)), seen));
            }
            String rule = "default value is not valid according to the requestPolicy";
            values.requireThat(hasPreset, preset.text(), rule);
        }

        /** With fractions, amounts with the same integer part differ. */
        private String key(Quantity value) {
            return gates.enabled(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE)
                    ? value.exact().stripTrailingZeros().toString()
                    : Long.toString(value.value(gates.version()));
        }
    }

    /** Rules for the range of amounts that requests may take from a capacity. */
    private record RangeRules(FeatureGates gates) {
        private static final int MILLI = 3;
        private static final BigDecimal LARGEST_MILLI = BigDecimal.valueOf(Long.MAX_VALUE, MILLI);
        private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

        /** Since 1.37, fractions count and numbers beyond 64 bits are rejected. */
        private boolean since137() {
            return gates.version().atLeast(KubernetesVersion.V1_37);
        }

        /** A number of the range, or the default, with the field for its errors. */
        private record Bound(Field field, Quantity quantity) {
            static Bound of(Field field) {
                return new Bound(field, Quantity.of(field));
            }

            void require(boolean holds, String rule) {
                field.requireThat(holds, quantity.text(), rule);
            }

            boolean isFraction() {
                return quantity.exact().stripTrailingZeros().scale() > 0;
            }

            boolean requireMilli() {
                BigDecimal exact = quantity.exact();
                boolean fits = exact.stripTrailingZeros().scale() <= MILLI
                        && exact.abs().compareTo(LARGEST_MILLI) <= 0;
                require(fits, "value cannot be represented as a milli value");
                return fits;
            }

            boolean requireLong() {
                boolean negative = quantity.exact().signum() < 0;
                boolean large = quantity.exact().compareTo(LARGEST) > 0;
                require(!negative, "must be greater than or equal to 0");
                require(!large, "must not be larger than 9223372036854775807");
                return !negative && !large;
            }
        }

        void check(Field range, Quantity preset, Quantity capacity) {
            if (!range.at("min").present()) {
                range.at("min").required("required when validRange is defined");
                return;
            }
            Bound min = Bound.of(range.at("min"));
            checkBounds(range, min, preset, capacity);
            List<Bound> all = new ArrayList<>(List.of(new Bound(range.at("default"), preset)));
            Stream.of("min", "max", "step")
                    .map(range::at)
                    .filter(Field::present)
                    .forEach(one -> all.add(Bound.of(one)));
            boolean milli = gates.enabled(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE)
                    && all.stream().anyMatch(Bound::isFraction);
            boolean countable = !milli || all(all, Bound::requireMilli);
            if (countable && range.at("step").present()) {
                checkStep(all, milli, capacity);
            }
        }

        private void checkBounds(Field range, Bound min, Quantity preset, Quantity capacity) {
            String ofCapacity = " is larger than capacity value: " + capacity.text();
            min.require(!min.quantity.exceeds(capacity), "min" + ofCapacity);
            presetAt(range, min)
                    .requireThat(
                            !min.quantity.exceeds(preset),
                            preset.text(),
                            "default is less than min: " + min.quantity.text());
            if (range.at("max").present()) {
                Bound max = Bound.of(range.at("max"));
                max.field.requireThat(
                        !min.quantity.exceeds(max.quantity),
                        min.quantity.text(),
                        "min is larger than max: " + max.quantity.text());
                max.require(!max.quantity.exceeds(capacity), "max" + ofCapacity);
                presetAt(range, max)
                        .requireThat(
                                !preset.exceeds(max.quantity),
                                preset.text(),
                                "default is more than max: " + max.quantity.text());
            }
        }

        /** Returns the field of the error of a wrong default: before 1.37, the bound that it violates. */
        private Field presetAt(Field range, Bound bound) {
            return since137() ? range.at("default") : bound.field;
        }

        /**
         * @param all the default, the minimum, the maximum if there is one, and the step
         */
        private void checkStep(List<Bound> all, boolean milli, Quantity capacity) {
            KubernetesVersion version = gates.version();
            Quantity min = all.get(1).quantity;
            Bound step = all.get(all.size() - 1);
            boolean negative = since137() && step.quantity.exact().signum() < 0;
            boolean none = step.quantity.exact().signum() == 0;
            if (none || step.quantity.value(version) == 0 && !milli || negative) {
                step.require(false, "must be greater than zero");
                return;
            }
            BigDecimal next = min.exact().add(step.quantity.exact());
            String text = Quantities.sum(min.text(), step.quantity.text());
            step.require(
                    next.compareTo(capacity.exact()) <= 0,
                    "one step %s is larger than capacity value: %s".formatted(text, capacity.text()));
            if (milli || !since137() || all(all, Bound::requireLong)) {
                checkMultiple(all.get(0).quantity, min, step, milli);
                all.subList(2, all.size() - 1).forEach(max -> checkMultiple(max.quantity, min, step, milli));
            }
        }

        private void checkMultiple(Quantity value, Quantity min, Bound step, boolean milli) {
            boolean whole;
            if (milli) {
                BigDecimal distance = value.exact().subtract(min.exact());
                whole = distance.remainder(step.quantity.exact()).signum() == 0;
            } else {
                KubernetesVersion version = gates.version();
                whole = (value.value(version) - min.value(version)) % step.quantity.value(version) == 0;
            }
            step.field.requireThat(
                    whole,
                    value.text(),
                    "value is not a multiple of a given step (%s) from (%s)"
                            .formatted(step.quantity.text(), min.text()));
        }

        private static boolean all(List<Bound> bounds, Predicate<Bound> check) {
            boolean all = true;
            for (Bound bound : bounds) {
                all &= check.test(bound);
            }
            return all;
        }
    }
}
