// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Counters that the devices of a pool share, such as the memory slices of a GPU.
 *
 * <p>The scheduler never allocates devices whose consumption together exceeds a counter.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815</a>
 */
public final class CounterSet {

    private final Values values;

    private CounterSet(Builder builder) {
        values = new Values(builder.name, builder.counters, builder.rawFields);
    }

    /**
     * Returns a builder for a counter set.
     *
     * @param name the set's name: a DNS label, unique in the pool
     * @return a builder
     */
    public static Builder builder(String name) {
        return new Builder(Objects.requireNonNull(name, "name"));
    }

    /**
     * Returns a counter set.
     *
     * @param name the set's name: a DNS label, unique in the pool
     * @param counters the amounts by name, at least one, at most 32
     * @return the counter set
     */
    public static CounterSet of(String name, Map<String, Quantity> counters) {
        return builder(name).counters(counters).build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.name);
        builder.counters.putAll(values.counters);
        builder.rawFields.putAll(values.rawFields);
        return builder;
    }

    /** {@return the set's name: a DNS label, unique in the pool} */
    public String name() {
        return values.name;
    }

    /** {@return the counters by name, at least one, at most 32} */
    public Map<String, Quantity> counters() {
        return values.counters;
    }

    /** {@return further fields of counters, by counter name: a JSON object each} */
    public Map<String, String> rawFields() {
        return values.rawFields;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CounterSet that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "CounterSet");
    }

    private record Values(String name, Map<String, Quantity> counters, Map<String, String> rawFields) {

        private Values {
            counters = Collections.unmodifiableMap(new LinkedHashMap<>(counters));
            rawFields = Collections.unmodifiableMap(new LinkedHashMap<>(rawFields));
        }
    }

    /** Builds a {@link CounterSet}; not thread-safe. */
    public static final class Builder {
        private final String name;
        private Map<String, Quantity> counters = new LinkedHashMap<>();
        private final Map<String, String> rawFields = new LinkedHashMap<>();

        private Builder(String name) {
            this.name = name;
        }

        /**
         * Sets one counter.
         *
         * @param name the counter's name: a DNS label
         * @param amount how much there is
         * @return this builder
         */
        public Builder counter(String name, Quantity amount) {
            counters.put(
                    Objects.requireNonNull(name, "name"),
                    Objects.requireNonNull(amount, () -> "amount: counter " + name + " is null"));
            return this;
        }

        /**
         * Replaces all counters.
         *
         * @param counters the amounts by name
         * @return this builder
         */
        public Builder counters(Map<String, Quantity> counters) {
            Objects.requireNonNull(counters, "counters");
            Builder fresh = new Builder(name);
            counters.forEach(fresh::counter);
            this.counters = fresh.counters;
            return this;
        }

        /**
         * Sets one counter.
         *
         * @param name the counter's name: a DNS label
         * @param amount how much, as a whole number
         * @return this builder
         */
        public Builder counter(String name, long amount) {
            return counter(name, Quantity.of(amount));
        }

        /**
         * Sets one counter.
         *
         * @param name the counter's name: a DNS label
         * @param amount how much, such as {@code 80Gi}
         * @return this builder
         * @throws IllegalArgumentException if the text is not a quantity
         */
        public Builder counter(String name, String amount) {
            Objects.requireNonNull(amount, "amount");
            return counter(name, Quantity.of("counter " + name + " of set " + this.name, amount));
        }

        /**
         * Sets fields of one counter that this class does not support yet, such as alpha fields.
         *
         * @param counter the counter's name, which also needs an amount
         * @param rawJson a JSON object with fields of the API, such as {@code requestPolicy}
         * @return this builder
         * @see <a href="https://github.com/kubernetes/enhancements/issues/5941">KEP-5941</a>
         */
        public Builder rawFields(String counter, String rawJson) {
            rawFields.put(
                    Objects.requireNonNull(counter, "counter"),
                    Objects.requireNonNull(rawJson, () -> "rawJson: rawFields of counter " + counter + " is null"));
            return this;
        }

        /** {@return an object with the values of this builder} */
        public CounterSet build() {
            return new CounterSet(this);
        }
    }
}
