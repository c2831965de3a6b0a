// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Request policies that hold only on a server that counts in milli-units: others round amounts up
 * to whole numbers, and refuse the slice.
 */
final class FractionalPolicies {

    private FractionalPolicies() {}

    /** Returns whether a valid device has such a policy. */
    static boolean areIn(Device device) {
        return device.capacities().values().stream()
                .map(Capacity::requestPolicy)
                .anyMatch(policy -> policy != null && !isWhole(policy));
    }

    private static boolean isWhole(RequestPolicy policy) {
        return areAscending(policy.validValues()) && areSteps(policy.defaultValue(), policy.validRange());
    }

    private static boolean areAscending(List<Quantity> values) {
        for (int i = 1; i < values.size(); i++) {
            if (counted(values.get(i - 1)).compareTo(counted(values.get(i))) >= 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean areSteps(@Nullable Quantity standard, @Nullable ValidRange range) {
        Quantity step = range == null ? null : range.step();
        return step == null || (isSteps(range.min(), standard, step) && isSteps(range.min(), range.max(), step));
    }

    private static boolean isSteps(Quantity min, @Nullable Quantity value, Quantity step) {
        return value == null || isWholeSteps(min, value, step);
    }

    /** Returns whether a distance is a multiple of a step, as a server counts whole numbers. */
    private static boolean isWholeSteps(Quantity from, Quantity to, Quantity step) {
        BigInteger whole = counted(to).subtract(counted(from));
        return counted(step).signum() > 0 && whole.remainder(counted(step)).signum() == 0;
    }

    private static BigInteger counted(Quantity quantity) {
        return quantity.amount().setScale(0, RoundingMode.CEILING).toBigInteger();
    }
}
