// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Quantity;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * Amounts that the API server keeps as they are.
 *
 * <p>It rounds what is finer than a billionth, and what does not fit 64 bits it cuts, or writes
 * back in other words than it understands: a slice with such an amount would never equal what the
 * driver wants.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/">
 *     Quantity</a>
 */
final class Amounts {

    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final BigDecimal MOST_MILLI = MOST.movePointLeft(3);

    private Amounts() {}

    /** Returns whether there is an amount and it is kept; adds a problem if not. */
    static boolean isKept(Field field, @Nullable Quantity quantity) {
        if (!field.requires(quantity)) {
            return false;
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

    /** Returns whether there is an amount that is kept and not negative; adds a problem if not. */
    static boolean isKeptAndNotNegative(Field field, @Nullable Quantity quantity) {
        if (!isKept(field, quantity)) {
            return false;
        }
        if (quantity.amount().signum() < 0) {
            field.refuse("must not be negative", quantity);
            return false;
        }
        return true;
    }

    /** Returns the amount as a server without fractions counts it in a request policy. */
    static BigInteger counted(Quantity quantity) {
        return quantity.amount().setScale(0, RoundingMode.CEILING).toBigInteger();
    }

    /** Returns whether a distance is a multiple of a step, as written. */
    static boolean isSteps(Quantity from, Quantity to, Quantity step) {
        BigDecimal exact = to.amount().subtract(from.amount());
        return exact.remainder(step.amount()).signum() == 0;
    }

    /** Returns whether a distance is a multiple of a step, as a server counts whole numbers. */
    static boolean isWholeSteps(Quantity from, Quantity to, Quantity step) {
        BigInteger whole = counted(to).subtract(counted(from));
        return counted(step).signum() > 0 && whole.remainder(counted(step)).signum() == 0;
    }

    /** Returns whether an amount is a 64-bit number of milli-units; adds a problem if not. */
    static void isMilli(Field field, @Nullable Quantity quantity) {
        if (quantity != null
                && (scale(quantity) > 3 || quantity.amount().abs().compareTo(MOST_MILLI) > 0)) {
            field.refuse(
                    "must be a whole number of thousandths, at most %s, beside a range with fractions"
                            .formatted(MOST_MILLI.toPlainString()),
                    quantity);
        }
    }

    static boolean isFraction(@Nullable Quantity quantity) {
        return quantity != null && scale(quantity) > 0;
    }

    private static int scale(Quantity quantity) {
        return quantity.amount().stripTrailingZeros().scale();
    }
}
