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

/** Kubernetes quantities: how they are read, compared and written back. */
public final class Quantities {
    private static final Pattern FORM =
            Pattern.compile(
                    "([+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?");
    private static final List<String> BINARY = List.of("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
    private static final List<String> DECIMAL =
            List.of("n", "u", "m", "", "k", "M", "G", "T", "P", "E");
    private static final BigDecimal BINARY_STEP = BigDecimal.valueOf(1024);

    private Quantities() {}

    public static boolean isQuantity(JsonNode value) {
        return (value.isTextual() || value.isNumber()) && FORM.matcher(value.asText()).matches();
    }

    /** The value as it is written, for example 1024 for {@code 1Ki}. */
    public static BigDecimal exact(String quantity) {
        Matcher matcher = matched(quantity);
        BigDecimal number = new BigDecimal(matcher.group(1));
        String suffix = suffix(matcher);
        if (suffix.endsWith("i")) {
            return number.multiply(BINARY_STEP.pow(BINARY.indexOf(suffix)));
        }
        return number.scaleByPowerOfTen(decimalExponent(suffix));
    }

    /** The value as the server compares it: rounded up to an integer. */
    static BigInteger value(String quantity) {
        return exact(quantity).setScale(0, RoundingMode.CEILING).toBigInteger();
    }

    private static Matcher matched(String quantity) {
        Matcher matcher = FORM.matcher(quantity);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("no quantity: " + quantity);
        }
        return matcher;
    }

    private static String suffix(Matcher matcher) {
        return matcher.group(2) == null ? "" : matcher.group(2);
    }

    private static int decimalExponent(String suffix) {
        return DECIMAL.contains(suffix)
                ? (DECIMAL.indexOf(suffix) - DECIMAL.indexOf("")) * 3
                : Integer.parseInt(suffix.substring(1));
    }

    /** The one text of a value: the largest suffix of its family that needs no fraction. */
    public static String canonical(String quantity) {
        BigDecimal exact = exact(quantity).setScale(9, RoundingMode.CEILING);
        String suffix = suffix(matched(quantity));
        boolean small = exact.abs().compareTo(BINARY_STEP) < 0;
        if (suffix.endsWith("i") && !small) {
            return binary(exact);
        }
        return DECIMAL.contains(suffix) || suffix.endsWith("i") ? decimal(exact) : exponent(exact);
    }

    private static String binary(BigDecimal exact) {
        BigInteger mantissa = exact.setScale(0, RoundingMode.CEILING).toBigInteger();
        BigInteger step = BigInteger.valueOf(1024);
        int power = 0;
        while (power < BINARY.size() - 1 && mantissa.mod(step).signum() == 0) {
            mantissa = mantissa.divide(step);
            power++;
        }
        return mantissa + BINARY.get(power);
    }

    private static String decimal(BigDecimal exact) {
        int step = thousands(exact, DECIMAL.size() - 1 - DECIMAL.indexOf(""));
        return exact.scaleByPowerOfTen(-3 * step).toBigIntegerExact()
                + DECIMAL.get(step + DECIMAL.indexOf(""));
    }

    private static String exponent(BigDecimal exact) {
        int step = thousands(exact, 6);
        BigInteger mantissa = exact.scaleByPowerOfTen(-3 * step).toBigIntegerExact();
        return step == 0 ? mantissa.toString() : mantissa + "e" + 3 * step;
    }

    /**
     * The number of times that the value can be divided by 1000, or must be multiplied (negative),
     * to be the smallest integer.
     */
    private static int thousands(BigDecimal exact, int most) {
        if (exact.signum() == 0) {
            return 0;
        }
        int zeros = -exact.stripTrailingZeros().scale();
        return Math.min(most, Math.floorDiv(zeros, 3));
    }
}
