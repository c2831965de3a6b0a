// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.Mapping;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Amounts that the API server keeps as they are.
 *
 * <p>It rounds what is finer than a billionth, and what does not fit 64 bits it cuts, or writes back in other words
 * than it understands: a slice with such an amount would never equal what the driver wants.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"> Quantity</a>
 */
final class AmountRules {

    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

    private AmountRules() {}

    static void check(Field device, Device checked) {
        Field capacities = device.child("capacity");
        checked.capacities().forEach((name, it) -> capacity(capacities.key(name), it));
        Field resources = device.child("nodeAllocatableResources");
        checked.nodeAllocatableResources().forEach((name, it) -> resource(resources.key(name), it));
    }

    private static void capacity(Field field, Capacity capacity) {
        isKept(field.child("value"), capacity.value());
        if (capacity.requestPolicy() != null) {
            policy(field.child("requestPolicy"), capacity.requestPolicy());
            lonelyDefault(field, capacity.value(), capacity.requestPolicy());
        }
    }

    /** A server compares a default only with the values or the range beside it. */
    private static void lonelyDefault(Field field, Quantity capacity, RequestPolicy policy) {
        Quantity standard = policy.defaultValue();
        if (standard != null
                && policy.validValues().isEmpty()
                && policy.validRange() == null
                && standard.compareTo(capacity) > 0) {
            field.child("requestPolicy").child("default").refuse("must be at most the capacity, " + capacity, standard);
        }
    }

    private static void policy(Field field, RequestPolicy policy) {
        isKeptAndNotNegative(field.child("default"), policy.defaultValue());
        List<Quantity> values = policy.validValues();
        for (int i = 0; i < values.size(); i++) {
            isKeptAndNotNegative(field.child("validValues").item(i), values.get(i));
        }
        ValidRange range = policy.validRange();
        if (range != null) {
            Field here = field.child("validRange");
            isKeptAndNotNegative(here.child("min"), range.min());
            isKeptAndNotNegative(here.child("max"), range.max());
            isKept(here.child("step"), range.step());
        }
    }

    private static void resource(Field field, NodeAllocatableResource resource) {
        Mapping mapping = resource.mapping();
        if (mapping instanceof OfCapacity of) {
            isKept(field.child("mapping").child("capacityMultiplier"), of.multiplier());
        } else if (mapping instanceof OfDevice of) {
            isKept(field.child("mapping").child("deviceMultiplier"), of.multiplier());
        }
        Overhead overhead = resource.overhead();
        if (overhead != null) {
            isKept(field.child("overhead").child("perPod"), overhead.perPod());
            isKept(field.child("overhead").child("perContainer"), overhead.perContainer());
        }
    }

    /** Returns whether an amount, if there is one, is kept; adds a problem if not. */
    private static boolean isKept(Field field, @Nullable Quantity quantity) {
        if (quantity == null) {
            return true;
        }
        BigDecimal amount = quantity.amount();
        if (amount.stripTrailingZeros().scale() > 9) {
            field.refuse("must be a whole number of billionths", quantity);
            return false;
        }
        if (amount.abs().compareTo(MOST) > 0) {
            field.refuse("must be at most " + MOST + ", in any unit", quantity);
            return false;
        }
        return true;
    }

    /** Checks an amount of which the server takes less than nothing, too. */
    static void isKeptAndNotNegative(Field field, @Nullable Quantity quantity) {
        if (isKept(field, quantity) && quantity != null && quantity.amount().signum() < 0) {
            field.refuse("must not be negative", quantity);
        }
    }
}
