// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Capacity;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.RequestPolicy;
import io.dra4j.rules.OwnNames;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The amounts of capacities that requests consume.
 *
 * @param fractions whether steps are counted in thousandths, instead of in integers
 */
record Amounts(boolean fractions) {
    private static final int MILLI = 3;

    /** Returns how much of a device's capacities a share consumes, by the names in its slice. */
    Map<String, Quantity> consumed(OwnNames names, Map<String, Quantity> requested, Map<String, Capacity> capacities) {
        Map<String, Quantity> consumed = new LinkedHashMap<>();
        capacities.forEach((name, capacity) -> {
            if (names.counts(capacities, name)) {
                consumed.put(name, consumed(names.find(requested, name).orElse(null), capacity));
            }
        });
        return consumed;
    }

    /** Returns what a request consumes; without an amount, the default or the whole capacity. */
    Quantity consumed(@Nullable Quantity requested, Capacity capacity) {
        RequestPolicy policy = capacity.policy();
        if (requested == null) {
            Quantity byDefault = policy == null ? null : policy.byDefault();
            return byDefault == null ? capacity.value() : byDefault;
        }
        if (policy == null) {
            return requested;
        }
        RequestPolicy.Range range = policy.validRange();
        if (range != null && range.min() != null) {
            return inRange(requested, range, range.min());
        }
        return policy.validValues().stream()
                .filter(valid -> requested.compareTo(valid) <= 0)
                .findFirst()
                .orElse(requested);
    }

    private Quantity inRange(Quantity requested, RequestPolicy.Range range, Quantity min) {
        if (requested.compareTo(min) < 0) {
            return min;
        }
        Quantity step = range.step();
        if (step == null || counted(step).signum() == 0) {
            return requested;
        }
        BigDecimal over = counted(requested).subtract(counted(min));
        BigDecimal steps = over.divide(counted(step), 0, RoundingMode.CEILING);
        return step.withValue(counted(min).add(steps.multiply(counted(step))));
    }

    /** Returns whether a policy allows an amount that {@link #consumed} returned. */
    boolean allowed(Quantity amount, @Nullable RequestPolicy policy) {
        if (policy == null || amount.equals(policy.byDefault())) {
            return true;
        }
        RequestPolicy.Range range = policy.validRange();
        if (range != null) {
            boolean within = range.max() == null || amount.compareTo(range.max()) <= 0;
            return within && isStep(amount, range);
        }
        return policy.validValues().isEmpty() || policy.validValues().contains(amount);
    }

    private boolean isStep(Quantity amount, RequestPolicy.Range range) {
        Quantity step = range.step();
        if (step == null || counted(step).signum() == 0) {
            return true;
        }
        Quantity min = range.min() == null ? Quantity.ZERO : range.min();
        return counted(amount).subtract(counted(min)).remainder(counted(step)).signum() == 0;
    }

    /** Returns the value in the unit of the arithmetic, rounded up. */
    private BigDecimal counted(Quantity quantity) {
        return quantity.value().setScale(fractions ? MILLI : 0, RoundingMode.CEILING);
    }
}
