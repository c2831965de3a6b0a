// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One device as it is published.
 *
 * <p>Names of attributes and capacities are C identifiers, which then belong to the driver's
 * domain, or qualified by a domain: {@code memory}, {@code example.com/memory}. The limits of the
 * API (32 attributes and capacities together, for instance) are checked when the inventory is
 * published, with an error that names pool, device and field.
 *
 * @param name the device's name, unique in its pool
 * @param attributes what the device is, by name
 * @param capacities how much the device has, by name
 * @param allowMultipleAllocations whether several claims may have shares of the device at once
 * @param consumesCounters what the device takes of its pool's counter sets, at most two sets
 * @param taints what keeps claims away from the device, at most 16
 * @param placement from which nodes the device can be used; only in pools with {@link
 *     Placement.PerDevice} placement, otherwise {@code null}
 * @param binding what must become true before a pod with this device is bound
 * @param bindsToNode whether an allocation of the device ties its pod to the node chosen
 * @param rawFields further fields of the device in the API, as JSON text by field name: for alpha
 *     fields that change their shape from one release to the next
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, devices</a>
 */
public record Device(
        DeviceName name,
        Map<String, AttributeValue> attributes,
        Map<String, Capacity> capacities,
        boolean allowMultipleAllocations,
        List<CounterConsumption> consumesCounters,
        List<Taint> taints,
        @Nullable Placement placement,
        BindingConditions binding,
        boolean bindsToNode,
        Map<String, String> rawFields) {

    /** Copies the collections; maps keep their order. */
    public Device {
        attributes = copy(attributes);
        capacities = copy(capacities);
        consumesCounters = List.copyOf(consumesCounters);
        taints = List.copyOf(taints);
        rawFields = copy(rawFields);
    }

    private static <V> Map<String, V> copy(Map<String, V> map) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    /**
     * Starts a device.
     *
     * @param name the device's name
     * @return a builder of a device without attributes
     * @throws IllegalArgumentException if the name is not a device name
     */
    public static Builder builder(String name) {
        return new Builder(new DeviceName(name));
    }

    /**
     * Starts a device that is like this one.
     *
     * @return a builder that holds what this device has
     */
    public Builder toBuilder() {
        Builder builder = new Builder(name);
        builder.attributes.putAll(attributes);
        builder.capacities.putAll(capacities);
        builder.allowMultipleAllocations = allowMultipleAllocations;
        builder.consumesCounters.addAll(consumesCounters);
        builder.taints.addAll(taints);
        builder.placement = placement;
        builder.binding = binding;
        builder.bindsToNode = bindsToNode;
        builder.rawFields.putAll(rawFields);
        return builder;
    }

    /** Builds a {@link Device}; not thread-safe. */
    public static final class Builder {
        private final DeviceName name;
        private final Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        private final Map<String, Capacity> capacities = new LinkedHashMap<>();
        private final List<CounterConsumption> consumesCounters = new ArrayList<>();
        private final List<Taint> taints = new ArrayList<>();
        private final Map<String, String> rawFields = new LinkedHashMap<>();
        private boolean allowMultipleAllocations;
        private @Nullable Placement placement;
        private BindingConditions binding = BindingConditions.NONE;
        private boolean bindsToNode;

        private Builder(DeviceName name) {
            this.name = name;
        }

        /**
         * Sets an attribute of any type.
         *
         * @param key the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String key, AttributeValue value) {
            attributes.put(key, value);
            return this;
        }

        /**
         * Replaces all attributes.
         *
         * @param all the attributes, by name
         * @return this builder
         */
        public Builder attributes(Map<String, AttributeValue> all) {
            attributes.clear();
            attributes.putAll(all);
            return this;
        }

        /**
         * Sets a string attribute.
         *
         * @param key the attribute's name
         * @param value at most 64 bytes
         * @return this builder
         */
        public Builder attribute(String key, String value) {
            return attribute(key, AttributeValue.of(value));
        }

        /**
         * Sets an int attribute.
         *
         * @param key the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String key, long value) {
            return attribute(key, AttributeValue.of(value));
        }

        /**
         * Sets a bool attribute.
         *
         * @param key the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String key, boolean value) {
            return attribute(key, AttributeValue.of(value));
        }

        /**
         * Sets a version attribute.
         *
         * @param key the attribute's name
         * @param semver a semantic version, such as {@code 1.0.0}
         * @return this builder
         */
        public Builder version(String key, String semver) {
            return attribute(key, AttributeValue.version(semver));
        }

        /**
         * Sets a capacity.
         *
         * @param key the capacity's name
         * @param capacity how much there is
         * @return this builder
         */
        public Builder capacity(String key, Capacity capacity) {
            capacities.put(key, capacity);
            return this;
        }

        /**
         * Sets a capacity that a claim has as a whole.
         *
         * @param key the capacity's name
         * @param quantity how much there is, for instance {@code 80Gi}
         * @return this builder
         * @throws IllegalArgumentException if the text is not a quantity
         */
        public Builder capacity(String key, String quantity) {
            return capacity(key, Capacity.of(quantity));
        }

        /**
         * Replaces all capacities.
         *
         * @param all the capacities, by name
         * @return this builder
         */
        public Builder capacities(Map<String, Capacity> all) {
            capacities.clear();
            capacities.putAll(all);
            return this;
        }

        /**
         * Lets several claims have shares of the device at once.
         *
         * @param allowed whether they may
         * @return this builder
         */
        public Builder allowMultipleAllocations(boolean allowed) {
            allowMultipleAllocations = allowed;
            return this;
        }

        /**
         * Adds what the device takes of one counter set.
         *
         * @param consumption the amounts
         * @return this builder
         */
        public Builder consumes(CounterConsumption consumption) {
            consumesCounters.add(consumption);
            return this;
        }

        /**
         * Replaces all that the device takes of counter sets.
         *
         * @param all the amounts; none for a device of its own
         * @return this builder
         */
        public Builder consumesCounters(Collection<CounterConsumption> all) {
            consumesCounters.clear();
            consumesCounters.addAll(all);
            return this;
        }

        /**
         * Adds a taint.
         *
         * @param taint the taint
         * @return this builder
         */
        public Builder taint(Taint taint) {
            taints.add(taint);
            return this;
        }

        /**
         * Replaces all taints.
         *
         * @param all the taints; none for a device that is well
         * @return this builder
         */
        public Builder taints(Collection<Taint> all) {
            taints.clear();
            taints.addAll(all);
            return this;
        }

        /**
         * Sets from which nodes the device can be used.
         *
         * @param nodes the nodes; {@code null} where the pool defines it
         * @return this builder
         */
        public Builder placement(@Nullable Placement nodes) {
            placement = nodes;
            return this;
        }

        /**
         * Sets what must become true before a pod with this device is bound.
         *
         * @param conditions the conditions
         * @return this builder
         */
        public Builder binding(BindingConditions conditions) {
            binding = conditions;
            return this;
        }

        /**
         * Ties a pod that is allocated the device to the node chosen.
         *
         * @param binds whether it is tied
         * @return this builder
         */
        public Builder bindsToNode(boolean binds) {
            bindsToNode = binds;
            return this;
        }

        /**
         * Sets a field that this class does not know yet.
         *
         * @param field the field's name in the API
         * @param json its value as JSON text
         * @return this builder
         */
        public Builder rawField(String field, String json) {
            rawFields.put(field, json);
            return this;
        }

        /**
         * Builds the device.
         *
         * @return the device
         */
        public Device build() {
            return new Device(
                    name,
                    attributes,
                    capacities,
                    allowMultipleAllocations,
                    consumesCounters,
                    taints,
                    placement,
                    binding,
                    bindsToNode,
                    rawFields);
        }
    }
}
