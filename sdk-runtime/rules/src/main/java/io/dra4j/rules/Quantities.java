// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses, compares and formats Kubernetes quantities. */
public final class Quantities {
    /** A pattern that accepts numbers without digits, which the real server reads as zero. */
    private static final Pattern FORM =
            Pattern.compile("([+-]?)([0-9]*+)(?:\\.([0-9]*+))?([eEinumkKMGTP]*[-+]?[0-9]*)");

    private static final Pattern EXPONENT = Pattern.compile("[eE][+-]?0*[0-9]{1,19}");
    private static final List<String> BINARY = List.of("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
    private static final List<String> DECIMAL = List.of("n", "u", "m", "", "k", "M", "G", "T", "P", "E");

    /** The largest exponent; larger ones are compared as if they were this one. */
    private static final int LARGEST_EXPONENT = 100_000;

    /** The maximum number of digits for the server's fast path. */
    private static final int DECIMAL_DIGITS = 18;

    /** The same maximum for {@code Ki}, which is three higher; it is three lower for each larger suffix. */
    private static final int BINARY_DIGITS = 14;

    /** The number of decimal places that are not rounded up. */
    private static final int NANO = 9;

    private static final BigDecimal BINARY_STEP = BigDecimal.valueOf(1024);
    private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

    private static final String NO_FORM =
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    private static final String NO_SUFFIX = "unable to parse quantity's suffix";

    private Quantities() {}

    /** Returns why a value is not a quantity, in the words of the server; empty if it is one. */
    public static String problem(JsonNode value) {
        String text = value.isContainerNode() ? "{}" : value.asText().strip();
        Matcher matcher = FORM.matcher(text);
        if (text.isEmpty() || !matcher.matches()) {
            return NO_FORM;
        }
        String suffix = matcher.group(4);
        boolean known = BINARY.contains(suffix) || DECIMAL.contains(suffix) || isExponent(suffix);
        return known ? "" : NO_SUFFIX;
    }

    /** Returns whether it is an exponent that fits into 64 bits. */
    private static boolean isExponent(String suffix) {
        return EXPONENT.matcher(suffix).matches() && new BigInteger(suffix.substring(1)).bitLength() < Long.SIZE;
    }

    /** Returns the value as the server reads it, for example 1024 for {@code 1Ki}, rounded up to a billionth. */
    public static BigDecimal exact(String quantity) {
        Matcher matcher = matched(quantity);
        BigDecimal number = number(matcher);
        String suffix = matcher.group(4);
        if (suffix.endsWith("i")) {
            BigDecimal binary = number.multiply(BINARY_STEP.pow(BINARY.indexOf(suffix)));
            return binary.min(LARGEST).max(LARGEST.negate());
        }
        return atBillionths(number.scaleByPowerOfTen(decimalExponent(suffix)));
    }

    /** Returns a number of devices, for example 1000 for {@code 1k}; 0 if it is not an integer of 64 bits. */
    public static long count(JsonNode amount) {
        BigDecimal exact = problem(amount).isEmpty() ? exact(amount.asText()).stripTrailingZeros() : BigDecimal.ZERO;
        return exact.scale() <= 0 && exact.abs().compareTo(LARGEST) <= 0 ? exact.longValue() : 0;
    }

    private static BigDecimal atBillionths(BigDecimal value) {
        return value.scale() > NANO ? value.setScale(NANO, RoundingMode.UP) : value;
    }

    private static BigDecimal number(Matcher matcher) {
        String fraction = matcher.group(3) == null ? "" : matcher.group(3);
        return new BigDecimal(matcher.group(1) + "0" + matcher.group(2) + "." + fraction + "0").stripTrailingZeros();
    }

    /**
     * Returns a non-negative value as a 64-bit integer of the server, rounded up. From 1.38, a value that is too large
     * is capped (#141305); before, it loses the bits that do not fit.
     */
    static long value(BigDecimal exact, KubernetesVersion version) {
        BigDecimal rounded = exact.setScale(0, RoundingMode.UP);
        boolean isLimited = version.atLeast(KubernetesVersion.V1_38);
        return (isLimited ? rounded.min(LARGEST) : rounded).toBigInteger().longValue();
    }

    /** Returns the text of a sum, in the form of the first summand that is not zero. */
    static String sum(String first, String second) {
        String suffix = suffix(exact(first).signum() == 0 ? second : first);
        return canonical(exact(first).add(exact(second)), suffix);
    }

    /** Returns the text of a value, in the form of another quantity. */
    public static String text(BigDecimal value, String like) {
        return canonical(value, suffix(like));
    }

    private static Matcher matched(String quantity) {
        Matcher matcher = FORM.matcher(quantity.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a quantity: " + quantity);
        }
        return matcher;
    }

    private static String suffix(String quantity) {
        return matched(quantity).group(4);
    }

    private static int decimalExponent(String suffix) {
        if (DECIMAL.contains(suffix)) {
            return (DECIMAL.indexOf(suffix) - DECIMAL.indexOf("")) * 3;
        }
        long exponent = Long.parseLong(suffix.substring(1));
        return (int) Math.max(-LARGEST_EXPONENT, Math.min(exponent, LARGEST_EXPONENT));
    }

    /**
     * Returns the text that a server returns. It is the text that was sent unless a smaller suffix would avoid its
     * fraction, and otherwise the value with the largest suffix of its family that needs no fraction.
     */
    public static String canonical(String quantity) {
        Matcher matcher = matched(quantity);
        String suffix = matcher.group(4);
        return isKept(matcher, suffix) ? quantity.strip() : canonical(exact(quantity), suffix);
    }

    /**
     * Returns the text that a server of a release returns. From 1.38, a value above the largest suffix keeps its zeros
     * (#140459).
     */
    public static String canonical(String quantity, KubernetesVersion version) {
        String text = canonical(quantity);
        boolean loses = exact(text).compareTo(exact(quantity)) != 0;
        return loses && version.atLeast(KubernetesVersion.V1_38) ? exponent(exact(quantity)) : text;
    }

    /**
     * Returns whether the server treats a text as canonical, which it decides by its digits. For example, {@code +5},
     * {@code 007}, {@code 1.500} and {@code 1E3} stay as they are.
     */
    private static boolean isKept(Matcher matcher, String suffix) {
        String whole = matcher.group(2).replaceFirst("^0+", "");
        String fraction = matcher.group(3) == null ? "" : matcher.group(3);
        String digits = (whole.isEmpty() ? "0" : whole) + fraction;
        if (suffix.endsWith("i")) {
            int most = BINARY_DIGITS - 3 * BINARY.indexOf(suffix);
            return fraction.isEmpty() && digits.length() <= most && Long.parseLong(digits) % 8 != 0;
        }
        int scale = decimalExponent(suffix) - fraction.length();
        return digits.length() <= DECIMAL_DIGITS
                && scale >= -NANO
                && scale % 3 == 0
                && !digits.startsWith("0")
                && !digits.endsWith("000");
    }

    private static String canonical(BigDecimal value, String suffix) {
        BigDecimal exact = atBillionths(value);
        boolean small = exact.abs().compareTo(BINARY_STEP) < 0;
        boolean whole = exact.stripTrailingZeros().scale() <= 0;
        if (suffix.endsWith("i") && !small && whole) {
            return binary(exact);
        }
        return DECIMAL.contains(suffix) || suffix.endsWith("i") ? decimal(exact) : exponent(exact);
    }

    private static String binary(BigDecimal exact) {
        BigInteger mantissa = exact.toBigIntegerExact();
        BigInteger step = BigInteger.valueOf(1024);
        int power = 0;
        while (power < BINARY.size() - 1 && mantissa.mod(step).signum() == 0) {
            mantissa = mantissa.divide(step);
            power++;
        }
        return mantissa + BINARY.get(power);
    }

    /** Above the largest suffix no suffix exists for the zeros, which servers before 1.38 drop. */
    private static String decimal(BigDecimal exact) {
        int step = thousands(exact);
        int at = step + DECIMAL.indexOf("");
        return exact.scaleByPowerOfTen(-3 * step).toBigIntegerExact() + (at < DECIMAL.size() ? DECIMAL.get(at) : "");
    }

    private static String exponent(BigDecimal exact) {
        int step = thousands(exact);
        BigInteger mantissa = exact.scaleByPowerOfTen(-3 * step).toBigIntegerExact();
        return step == 0 ? mantissa.toString() : mantissa + "e" + 3 * step;
    }

    /**
     * Returns how often the value can be divided by 1000, or must be multiplied (negative), to be the smallest integer.
     */
    private static int thousands(BigDecimal exact) {
        return exact.signum() == 0
                ? 0
                : Math.floorDiv(-exact.stripTrailingZeros().scale(), 3);
    }
}
