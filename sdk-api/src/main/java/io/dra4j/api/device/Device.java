// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One device as it is published.
 *
 * <p>Names of attributes and capacities are C identifiers, which belong to the driver's domain unless they are
 * qualified by another: {@code memory}, {@code example.com/memory}. The limits of the API (32 attributes and capacities
 * together, for instance) are checked when the inventory is published, with an error that names pool, device and field.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/"> ResourceSlice,
 *     devices</a>
 */
public final class Device {

    private final Values values;

    private Device(Builder builder) {
        values = new Values(
                builder.name,
                builder.physicalId,
                builder.attributes,
                builder.capacities,
                builder.allowMultipleAllocations,
                builder.consumesCounters,
                builder.taints,
                builder.placement,
                builder.binding,
                builder.bindsToNode,
                builder.nodeAllocatableResources,
                builder.rawFields);
    }

    /**
     * Returns a builder for a device without attributes.
     *
     * @param name the device's name, unique in its pool
     * @return a builder
     * @throws IllegalArgumentException if the name is not a device name
     */
    public static Builder builder(String name) {
        return new Builder(new DeviceName(Objects.requireNonNull(name, "name")));
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.name);
        builder.physicalId = values.physicalId;
        builder.attributes = values.attributes;
        builder.capacities = values.capacities;
        builder.allowMultipleAllocations = values.allowMultipleAllocations;
        builder.consumesCounters.addAll(values.consumesCounters);
        builder.taints.addAll(values.taints);
        builder.placement = values.placement;
        builder.binding = values.binding;
        builder.bindsToNode = values.bindsToNode;
        builder.nodeAllocatableResources = values.nodeAllocatableResources;
        builder.rawFields = values.rawFields;
        return builder;
    }

    /** {@return the device's name, unique in its pool} */
    public DeviceName name() {
        return values.name;
    }

    /**
     * {@return the id of the hardware behind the name, which moves with the hardware: a UUID, a serial number; {@code
     * null} if it has none}
     */
    public @Nullable String physicalId() {
        return values.physicalId;
    }

    /** {@return the attributes, by name: descriptions of the device} */
    public Map<String, AttributeValue> attributes() {
        return values.attributes;
    }

    /** {@return the capacities, by name: how much the device has} */
    public Map<String, Capacity> capacities() {
        return values.capacities;
    }

    /** {@return whether several claims may have shares of the device at the same time} */
    public boolean allowMultipleAllocations() {
        return values.allowMultipleAllocations;
    }

    /** {@return the amounts that the device consumes from its pool's counter sets, at most two sets} */
    public List<CounterConsumption> consumesCounters() {
        return values.consumesCounters;
    }

    /** {@return the taints that keep claims away from the device, at most 16} */
    public List<Taint> taints() {
        return values.taints;
    }

    /**
     * {@return from which nodes the device can be used; {@code null} unless the pool has {@link
     * Placement.PerDevice} placement}
     */
    public @Nullable Placement placement() {
        return values.placement;
    }

    /** {@return the conditions for binding a pod with this device} */
    public BindingConditions binding() {
        return values.binding;
    }

    /** {@return whether an allocation of the device ties its pod to the chosen node} */
    public boolean bindsToNode() {
        return values.bindsToNode;
    }

    /** {@return how much of the node's native resources an allocation takes, by resource name} */
    public Map<String, NodeAllocatableResource> nodeAllocatableResources() {
        return values.nodeAllocatableResources;
    }

    /** {@return further fields of the device in the API, as JSON text by field name} */
    public Map<String, String> rawFields() {
        return values.rawFields;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof Device that && values.all().equals(that.values.all()));
    }

    @Override
    public int hashCode() {
        return values.name.hashCode(); // names are unique in a pool; the rest takes long to hash
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "Device");
    }

    private record Values(
            DeviceName name,
            @Nullable String physicalId,
            Map<String, AttributeValue> attributes,
            Map<String, Capacity> capacities,
            boolean allowMultipleAllocations,
            List<CounterConsumption> consumesCounters,
            List<Taint> taints,
            @Nullable Placement placement,
            BindingConditions binding,
            boolean bindsToNode,
            Map<String, NodeAllocatableResource> nodeAllocatableResources,
            Map<String, String> rawFields) {

        private Values {
            attributes = SharedMap.fixed(attributes);
            capacities = SharedMap.fixed(capacities);
            consumesCounters = List.copyOf(consumesCounters);
            taints = List.copyOf(taints);
            nodeAllocatableResources = SharedMap.fixed(nodeAllocatableResources);
            rawFields = SharedMap.fixed(rawFields);
        }

        /** Comparing a record costs the start of a driver some milliseconds. */
        List<@Nullable Object> all() {
            return Arrays.asList(
                    name,
                    physicalId,
                    attributes,
                    capacities,
                    allowMultipleAllocations,
                    consumesCounters,
                    taints,
                    placement,
                    binding,
                    bindsToNode,
                    nodeAllocatableResources,
                    rawFields);
        }
    }

    /** Builds a {@link Device}; not thread-safe. */
    public static final class Builder {
        private final DeviceName name;
        private @Nullable String physicalId;
        private Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        private Map<String, Capacity> capacities = new LinkedHashMap<>();
        private boolean allowMultipleAllocations;
        private List<CounterConsumption> consumesCounters = new ArrayList<>();
        private List<Taint> taints = new ArrayList<>();
        private @Nullable Placement placement;
        private BindingConditions binding = BindingConditions.NONE;
        private boolean bindsToNode;
        private Map<String, NodeAllocatableResource> nodeAllocatableResources = new LinkedHashMap<>();
        private Map<String, String> rawFields = new LinkedHashMap<>();

        private Builder(DeviceName name) {
            this.name = name;
        }

        /**
         * Sets the id of the hardware behind the name.
         *
         * <p>It is not published. The runtime keeps it with each claim and with each published name, refuses to prepare
         * a claim if the device's name now refers to other hardware than when it was allocated, and publishes such a
         * name again only when no claim refers to it. Devices named by a minor number or a position in a list need an
         * id.
         *
         * <p>The id must be unique in an inventory: a part of a device has its own id, such as its parent's with the
         * position of the part. Of several new names with the same id only the first by pool and name is published, and
         * the others are withheld, with an Event; names that were published before stay.
         *
         * @param physicalId an id that moves with the hardware: a UUID, a serial number; {@code null} or blank for none
         * @return this builder
         */
        public Builder physicalId(@Nullable String physicalId) {
            this.physicalId = physicalId == null || physicalId.isBlank() ? null : physicalId;
            return this;
        }

        /**
         * Sets an attribute of any type.
         *
         * @param name the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String name, AttributeValue value) {
            attributes = SharedMap.with(attributes, name, given(value, "value: attribute", name));
            return this;
        }

        /**
         * Replaces all attributes.
         *
         * @param attributes the attributes, by name
         * @return this builder
         */
        public Builder attributes(Map<String, AttributeValue> attributes) {
            Objects.requireNonNull(attributes, "attributes");
            this.attributes = fresh(all -> attributes.forEach(all::attribute)).attributes;
            return this;
        }

        /**
         * Sets a capacity.
         *
         * @param name the capacity's name
         * @param capacity how much there is
         * @return this builder
         */
        public Builder capacity(String name, Capacity capacity) {
            capacities = SharedMap.with(capacities, name, given(capacity, "capacity: capacity", name));
            return this;
        }

        /**
         * Replaces all capacities.
         *
         * @param capacities the capacities, by name
         * @return this builder
         */
        public Builder capacities(Map<String, Capacity> capacities) {
            Objects.requireNonNull(capacities, "capacities");
            this.capacities = fresh(all -> capacities.forEach(all::capacity)).capacities;
            return this;
        }

        /**
         * Lets several claims have shares of the device at the same time.
         *
         * @param allowMultipleAllocations whether they may
         * @return this builder
         */
        public Builder allowMultipleAllocations(boolean allowMultipleAllocations) {
            this.allowMultipleAllocations = allowMultipleAllocations;
            return this;
        }

        /**
         * Adds the amounts that the device consumes from one counter set.
         *
         * @param consumes the amounts
         * @return this builder
         */
        public Builder consumes(CounterConsumption consumes) {
            consumesCounters.add(Objects.requireNonNull(
                    consumes,
                    () -> "consumes: consumesCounters[" + consumesCounters.size() + "] of device " + name
                            + " is null"));
            return this;
        }

        /**
         * Replaces all amounts that the device consumes from counter sets.
         *
         * @param consumesCounters the amounts; none for a device that shares no counters
         * @return this builder
         */
        public Builder consumesCounters(Collection<CounterConsumption> consumesCounters) {
            Objects.requireNonNull(consumesCounters, "consumesCounters");
            this.consumesCounters = fresh(all -> consumesCounters.forEach(all::consumes)).consumesCounters;
            return this;
        }

        /**
         * Adds a taint.
         *
         * @param taint the taint
         * @return this builder
         */
        public Builder taint(Taint taint) {
            taints.add(Objects.requireNonNull(
                    taint, () -> "taint: taints[" + taints.size() + "] of device " + name + " is null"));
            return this;
        }

        /**
         * Replaces all taints.
         *
         * @param taints the taints; none for a healthy device
         * @return this builder
         */
        public Builder taints(Collection<Taint> taints) {
            Objects.requireNonNull(taints, "taints");
            this.taints = fresh(all -> taints.forEach(all::taint)).taints;
            return this;
        }

        /**
         * Sets from which nodes the device can be used.
         *
         * @param placement the nodes; {@code null} if the pool defines them
         * @return this builder
         */
        public Builder placement(@Nullable Placement placement) {
            this.placement = placement;
            return this;
        }

        /**
         * Sets the conditions for binding a pod with this device.
         *
         * @param binding the conditions
         * @return this builder
         */
        public Builder binding(BindingConditions binding) {
            this.binding = Objects.requireNonNull(binding, "binding");
            return this;
        }

        /**
         * Ties a pod that is allocated the device to the chosen node.
         *
         * @param bindsToNode whether it is tied
         * @return this builder
         */
        public Builder bindsToNode(boolean bindsToNode) {
            this.bindsToNode = bindsToNode;
            return this;
        }

        /**
         * Sets how much of a native resource of the node an allocation of the device takes.
         *
         * @param name the resource's name, such as {@code cpu}
         * @param resource how much it takes
         * @return this builder
         */
        public Builder nodeAllocatableResource(String name, NodeAllocatableResource resource) {
            nodeAllocatableResources = SharedMap.with(
                    nodeAllocatableResources, name, given(resource, "resource: nodeAllocatableResource", name));
            return this;
        }

        /**
         * Replaces the amounts that an allocation takes of the node's native resources.
         *
         * @param resources how much it takes, by resource name
         * @return this builder
         */
        public Builder nodeAllocatableResources(Map<String, NodeAllocatableResource> resources) {
            Objects.requireNonNull(resources, "resources");
            nodeAllocatableResources =
                    fresh(all -> resources.forEach(all::nodeAllocatableResource)).nodeAllocatableResources;
            return this;
        }

        /**
         * Sets a field of the API that this class does not support yet, such as an alpha field.
         *
         * @param name the field's name in the API
         * @param rawJson its value as JSON text
         * @return this builder
         */
        public Builder rawField(String name, String rawJson) {
            rawFields = SharedMap.with(rawFields, name, given(rawJson, "rawJson: rawField", name));
            return this;
        }

        /**
         * Replaces all further fields.
         *
         * @param rawFields JSON text by field name
         * @return this builder
         */
        public Builder rawFields(Map<String, String> rawFields) {
            Objects.requireNonNull(rawFields, "rawFields");
            this.rawFields = fresh(all -> rawFields.forEach(all::rawField)).rawFields;
            return this;
        }

        /**
         * Sets a string attribute.
         *
         * @param name the attribute's name
         * @param value at most 64 bytes
         * @return this builder
         */
        public Builder attribute(String name, String value) {
            return attribute(name, AttributeValue.of(given(value, "value: attribute", name)));
        }

        /**
         * Sets an int attribute.
         *
         * @param name the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String name, long value) {
            return attribute(name, AttributeValue.of(value));
        }

        /**
         * Sets a bool attribute.
         *
         * @param name the attribute's name
         * @param value its value
         * @return this builder
         */
        public Builder attribute(String name, boolean value) {
            return attribute(name, AttributeValue.of(value));
        }

        /**
         * Sets a version attribute.
         *
         * @param name the attribute's name
         * @param semver a semantic version, such as {@code 1.0.0}
         * @return this builder
         */
        public Builder version(String name, String semver) {
            return attribute(name, AttributeValue.version(given(semver, "semver: attribute", name)));
        }

        /**
         * Sets a capacity that a claim always gets as a whole.
         *
         * @param name the capacity's name
         * @param quantity how much there is, for instance {@code 80Gi}
         * @return this builder
         * @throws IllegalArgumentException if the text is not a quantity
         */
        public Builder capacity(String name, String quantity) {
            return capacity(
                    name, new Capacity(Quantity.of("capacity " + name + " of device " + this.name, quantity), null));
        }

        private <T> T given(T value, String what, String key) {
            return Objects.requireNonNull(value, () -> what + " " + key + " of device " + name + " is null");
        }

        /** Fills a separate builder first, so that a null element leaves this one unchanged. */
        private Builder fresh(Consumer<Builder> fill) {
            Builder fresh = new Builder(name);
            fill.accept(fresh);
            return fresh;
        }

        /** {@return an object with the values of this builder} */
        public Device build() {
            return new Device(this);
        }
    }
}
