// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The amount of a resource that a device has, and how much of it one claim may take.
 *
 * @param value the amount that the device has
 * @param requestPolicy how claims take parts of it; only for devices that allow multiple
 *     allocations, otherwise {@code null}
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 */
public record Capacity(Quantity value, @Nullable RequestPolicy requestPolicy) {

    /** Checks that nothing is missing. */
    public Capacity {
        Objects.requireNonNull(value, "value");
    }

    /**
     * Returns a capacity that a claim always gets as a whole.
     *
     * @param value the amount, for instance {@code 80Gi}
     * @return the capacity
     * @throws IllegalArgumentException if the text is not a quantity
     */
    public static Capacity of(String value) {
        return new Capacity(new Quantity(Objects.requireNonNull(value, "value")), null);
    }

    /**
     * Returns a capacity that a claim always gets as a whole.
     *
     * @param value the amount
     * @return the capacity
     */
    public static Capacity of(long value) {
        return new Capacity(Quantity.of(value), null);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof Capacity that
                && value.equals(that.value)
                && Objects.equals(requestPolicy, that.requestPolicy);
    }

    @Override
    public int hashCode() {
        return Objects.hash(value, requestPolicy);
    }
}
