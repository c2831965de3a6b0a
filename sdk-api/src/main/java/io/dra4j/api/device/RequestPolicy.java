// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The amounts of a capacity that a claim may request, and the default if it requests none.
 *
 * <p>At most one of valid values and valid range is given. The scheduler rounds a request up to the
 * next valid amount. Its limits are checked when the inventory is published.
 *
 * @param defaultValue what a claim takes if it names no amount; required with values or a range
 * @param validValues the amounts that can be taken, ascending, at most 10; empty for no such limit
 * @param validRange the range of amounts that can be taken; {@code null} for no such limit
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 */
public record RequestPolicy(
        @Nullable Quantity defaultValue,
        List<Quantity> validValues,
        @Nullable ValidRange validRange) {

    /** Copies the list. */
    public RequestPolicy {
        validValues = List.copyOf(Objects.requireNonNull(validValues, "validValues"));
    }

    /**
     * Returns the policy that allows claims to take one of the given amounts.
     *
     * @param defaultValue what a claim takes if it names no amount
     * @param validValues the amounts, ascending
     * @return the policy
     */
    public static RequestPolicy values(Quantity defaultValue, List<Quantity> validValues) {
        Objects.requireNonNull(defaultValue, "defaultValue");
        return new RequestPolicy(defaultValue, validValues, null);
    }

    /**
     * Returns the policy that allows claims to take amounts in a range.
     *
     * @param defaultValue what a claim takes if it names no amount
     * @param validRange the range
     * @return the policy
     */
    public static RequestPolicy range(Quantity defaultValue, ValidRange validRange) {
        Objects.requireNonNull(defaultValue, "defaultValue");
        Objects.requireNonNull(validRange, "validRange");
        return new RequestPolicy(defaultValue, List.of(), validRange);
    }

    /**
     * The range of amounts that can be taken.
     *
     * @param min the least amount
     * @param max the largest amount; {@code null} for the whole capacity
     * @param step the distance between two valid amounts; {@code null} for any
     */
    public record ValidRange(
            Quantity min, @Nullable Quantity max, @Nullable Quantity step) {

        /** Checks that nothing is missing. */
        public ValidRange {
            Objects.requireNonNull(min, "min");
        }
    }
}
