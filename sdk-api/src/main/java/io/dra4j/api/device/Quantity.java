// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.math.BigDecimal;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount in the notation of Kubernetes: {@code 80Gi}, {@code 100}, {@code 1500m}, {@code 2e3}.
 *
 * <p>Two quantities are equal if their amounts are, regardless of notation: {@code 1Gi} equals {@code 1024Mi}. The text
 * is kept as given, so that what is published reads as the driver wrote it.
 *
 * @param text the amount as written
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"> Quantity</a>
 */
public record Quantity(String text) implements Comparable<Quantity> {

    private static final Pattern FORM = Pattern.compile("([+-]?(?:[0-9]{1,30}(?:\\.[0-9]{0,30})?|\\.[0-9]{1,30}))"
            + "(?:(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)|[eE]([+-]?[0-9]{1,2}))?");

    /**
     * Checks the notation.
     *
     * @throws IllegalArgumentException if the text is not a quantity
     */
    public Quantity {
        Objects.requireNonNull(text, "text");
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "Not a quantity: \"" + text + "\"; write for instance 80Gi, 100 or 1500m");
        }
    }

    /**
     * Returns the quantity of a whole number, without a unit.
     *
     * @param amount any whole number
     * @return the quantity
     */
    public static Quantity of(long amount) {
        return new Quantity(Long.toString(amount));
    }

    /** Reads the quantity of a part of an inventory, which an error names. */
    static Quantity of(String part, String text) {
        Objects.requireNonNull(text, () -> "quantity: " + part + " is null");
        try {
            return new Quantity(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(part + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the quantity of a number of bytes, in the largest binary unit that keeps it exact.
     *
     * @param bytes a number of bytes, zero or more
     * @return the quantity, for instance {@code 80Gi}
     */
    public static Quantity ofBytes(long bytes) {
        String[] units = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
        long amount = bytes;
        int unit = 0;
        while (amount != 0 && amount % 1024 == 0 && unit < units.length - 1) {
            amount /= 1024;
            unit++;
        }
        return new Quantity(amount + units[unit]);
    }

    /**
     * Returns the exact amount.
     *
     * @return the amount in the base unit
     */
    public BigDecimal amount() {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalStateException("Checked when it was made: " + text);
        }
        BigDecimal number = new BigDecimal(matcher.group(1));
        if (matcher.group(2) != null) {
            return number.multiply(Units.FACTORS.get(matcher.group(2)));
        }
        return matcher.group(3) == null ? number : number.scaleByPowerOfTen(Integer.parseInt(matcher.group(3)));
    }

    @Override
    public int compareTo(Quantity other) {
        return amount().compareTo(other.amount());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Quantity quantity && (text.equals(quantity.text) || compareTo(quantity) == 0);
    }

    @Override
    public int hashCode() {
        return amount().stripTrailingZeros().hashCode();
    }

    /** Returns the amount as written. */
    @Override
    public String toString() {
        return text;
    }

    /** Apart, since a program that only writes quantities should not wait for the JDK's tables of powers. */
    private static final class Units {

        private static final BigDecimal KIBI = BigDecimal.valueOf(1024);

        static final Map<String, BigDecimal> FACTORS = Map.ofEntries(
                Map.entry("n", BigDecimal.ONE.movePointLeft(9)),
                Map.entry("u", BigDecimal.ONE.movePointLeft(6)),
                Map.entry("m", BigDecimal.ONE.movePointLeft(3)),
                Map.entry("k", BigDecimal.ONE.movePointRight(3)),
                Map.entry("M", BigDecimal.ONE.movePointRight(6)),
                Map.entry("G", BigDecimal.ONE.movePointRight(9)),
                Map.entry("T", BigDecimal.ONE.movePointRight(12)),
                Map.entry("P", BigDecimal.ONE.movePointRight(15)),
                Map.entry("E", BigDecimal.ONE.movePointRight(18)),
                Map.entry("Ki", KIBI),
                Map.entry("Mi", KIBI.pow(2)),
                Map.entry("Gi", KIBI.pow(3)),
                Map.entry("Ti", KIBI.pow(4)),
                Map.entry("Pi", KIBI.pow(5)),
                Map.entry("Ei", KIBI.pow(6)));
    }
}
