// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
}
