// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Quantities;
import java.math.BigDecimal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An exact amount, with its text.
 *
 * @param text what Kubernetes writes for it, for example {@code 5Gi}
 */
public record Quantity(BigDecimal value, String text) implements Comparable<Quantity> {
    public static final Quantity ZERO = new Quantity(BigDecimal.ZERO, "0");

    private static final int MOST_READ = 1_000;

    /** A cache of quantities by text: the devices of a cluster share a few. */
    private static final Map<String, Quantity> READ = new ConcurrentHashMap<>();

    /** Reads a quantity, which may be a JSON number. */
    static Quantity of(JsonNode json) {
        Quantity known = json.isTextual() ? READ.get(json.textValue()) : null;
        return known == null ? read(json) : known;
    }

    private static Quantity read(JsonNode json) {
        String problem = Quantities.problem(json);
        if (!problem.isEmpty()) {
            throw new IllegalArgumentException("\"%s\": %s".formatted(json.asText(), problem));
        }
        Quantity quantity = parse(json.asText());
        if (json.isTextual() && READ.size() < MOST_READ) {
            READ.put(json.textValue(), quantity);
        }
        return quantity;
    }

    /**
     * Reads a text such as {@code 5Gi}.
     *
     * @throws IllegalArgumentException if the text is not a quantity
     */
    public static Quantity parse(String text) {
        return new Quantity(Quantities.exact(text), Quantities.canonical(text).intern());
    }

    /** Returns the sum, in the form of this one. */
    public Quantity plus(Quantity other) {
        return withValue(value.add(other.value));
    }

    /** Returns the difference, in the form of this one. */
    public Quantity minus(Quantity other) {
        return withValue(value.subtract(other.value));
    }

    /** Returns another value in the form of this one, binary or decimal. */
    public Quantity withValue(BigDecimal other) {
        return new Quantity(other, Quantities.text(other, text));
    }

    @Override
    public int compareTo(Quantity other) {
        return value.compareTo(other.value);
    }

    /** Two quantities are equal if their values are. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Quantity quantity && compareTo(quantity) == 0;
    }

    @Override
    public int hashCode() {
        return value.stripTrailingZeros().hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
