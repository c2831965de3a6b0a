// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.BindingConditions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules for the conditions of binding a pod with the device. */
final class BindingRules {

    private static final int MOST = 4;

    private BindingRules() {}

    static void check(Field device, @Nullable BindingConditions binding) {
        Field conditions = device.child("bindingConditions");
        Field failures = device.child("bindingFailureConditions");
        if (!conditions.requires(binding)) {
            return;
        }
        Set<String> seen = new HashSet<>();
        types(conditions, binding.conditions(), seen);
        types(failures, binding.failureConditions(), seen);
        if (binding.conditions().isEmpty() && !binding.failureConditions().isEmpty()) {
            conditions.refuse("must be set, as bindingFailureConditions is", List.of());
        } else if (!binding.conditions().isEmpty() && binding.failureConditions().isEmpty()) {
            failures.refuse("must be set, as bindingConditions is", List.of());
        }
    }

    private static void types(Field field, List<String> types, Set<String> seen) {
        field.allowsAtMost(MOST, types.size(), "conditions");
        for (int i = 0; i < types.size(); i++) {
            Names.labelName(field.item(i), types.get(i));
            if (!seen.add(types.get(i))) {
                field.item(i).refuse("must be unique among both lists of conditions", types.get(i));
            }
        }
    }
}
