// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The amounts that a device consumes from a counter set of its pool while it is allocated.
 *
 * @see CounterSet
 */
public final class CounterConsumption {

    private final Values values;

    private CounterConsumption(Builder builder) {
        values = new Values(builder.counterSet, builder.counters, builder.compatibilityGroups, builder.rawFields);
    }

    /**
     * Returns a builder for the consumption of a counter set.
     *
     * @param counterSet the name of the counter set
     * @return a builder
     */
    public static Builder builder(String counterSet) {
        return new Builder(Objects.requireNonNull(counterSet, "counterSet"));
    }

    /**
     * Returns the consumption of a counter set.
     *
     * @param counterSet the name of the counter set
     * @param counters the amounts by counter name, at least one, at most 32
     * @return the consumption
     */
    public static CounterConsumption of(String counterSet, Map<String, Quantity> counters) {
        return builder(counterSet).counters(counters).build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.counterSet);
        builder.counters.putAll(values.counters);
        builder.compatibilityGroups.addAll(values.compatibilityGroups);
        builder.rawFields.putAll(values.rawFields);
        return builder;
    }

    /** {@return the name of the counter set} */
    public String counterSet() {
        return values.counterSet;
    }

    /** {@return the amounts by counter name, at least one, at most 32} */
    public Map<String, Quantity> counters() {
        return values.counters;
    }

    /**
     * {@return the compatibility groups; devices that consume the set at the same time must have one in common; empty
     * to share with any device that has none}
     */
    public List<String> compatibilityGroups() {
        return values.compatibilityGroups;
    }

    /** {@return further fields of counters, by counter name: a JSON object each} */
    public Map<String, String> rawFields() {
        return values.rawFields;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CounterConsumption that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "CounterConsumption");
    }

    private record Values(
            String counterSet,
            Map<String, Quantity> counters,
            List<String> compatibilityGroups,
            Map<String, String> rawFields) {

        private Values {
            counters = Collections.unmodifiableMap(new LinkedHashMap<>(counters));
            compatibilityGroups = List.copyOf(compatibilityGroups);
            rawFields = Collections.unmodifiableMap(new LinkedHashMap<>(rawFields));
        }
    }

    /** Builds a {@link CounterConsumption}; not thread-safe. */
    public static final class Builder {
        private final String counterSet;
        private Map<String, Quantity> counters = new LinkedHashMap<>();
        private final Map<String, String> rawFields = new LinkedHashMap<>();
        private List<String> compatibilityGroups = new ArrayList<>();

        private Builder(String counterSet) {
            this.counterSet = counterSet;
        }

        /**
         * Sets the amount of one counter.
         *
         * @param name the counter's name: a DNS label
         * @param amount how much is consumed
         * @return this builder
         */
        public Builder counter(String name, Quantity amount) {
            counters.put(
                    Objects.requireNonNull(name, "name"),
                    Objects.requireNonNull(amount, () -> "amount: counter " + name + " is null"));
            return this;
        }

        /**
         * Replaces the amounts of all counters.
         *
         * @param counters the amounts by name
         * @return this builder
         */
        public Builder counters(Map<String, Quantity> counters) {
            Objects.requireNonNull(counters, "counters");
            Builder fresh = new Builder(counterSet);
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
            return counter(name, Quantity.of("counter " + name + " of set " + counterSet, amount));
        }

        /**
         * Adds a compatibility group.
         *
         * <p>Devices that consume the counter set at the same time need a group in common. A device with groups is
         * never allocated together with one without.
         *
         * @param group the group's name: a DNS label
         * @return this builder
         * @see <a
         *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5963-dra-device-compatibility-groups">
         *     KEP-5963</a>
         */
        public Builder compatibilityGroup(String group) {
            compatibilityGroups.add(
                    Objects.requireNonNull(group, () -> "group: one of counter set " + counterSet + " is null"));
            return this;
        }

        /**
         * Replaces all compatibility groups.
         *
         * @param groups the groups' names, at most two; none to share with any device without groups
         * @return this builder
         */
        public Builder compatibilityGroups(Collection<String> groups) {
            Objects.requireNonNull(groups, "groups");
            Builder fresh = new Builder(counterSet);
            groups.forEach(fresh::compatibilityGroup);
            compatibilityGroups = fresh.compatibilityGroups;
            return this;
        }

        /**
         * Sets fields of one counter that this class does not support yet, such as alpha fields.
         *
         * @param counter the counter's name, which then needs no amount
         * @param rawJson a JSON object with fields of the API, such as {@code valueFrom}
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
        public CounterConsumption build() {
            return new CounterConsumption(this);
        }
    }
}
