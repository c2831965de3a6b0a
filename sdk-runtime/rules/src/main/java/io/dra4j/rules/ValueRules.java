// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import io.dra4j.rules.CapacityRules.Quantity;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Rules for the amounts that requests may take of a capacity.
 *
 * @param fractional whether amounts with the same integer part differ
 */
record ValueRules(boolean fractional) {
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

    private String key(Quantity value) {
        return fractional ? value.exact().stripTrailingZeros().toString() : Long.toString(value.value());
    }
}
