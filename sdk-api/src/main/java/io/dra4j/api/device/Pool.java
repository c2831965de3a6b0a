// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A set of devices that is published, and becomes valid, as a whole.
 *
 * <p>An empty pool is published as empty; a pool that is no longer in the inventory is withdrawn.
 * Devices keep the order given: the scheduler takes earlier devices first.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, pool</a>
 */
public final class Pool {

    private final Values values;

    private Pool(Builder builder) {
        values = new Values(builder.name, builder.placement, builder.devices, builder.counterSets);
    }

    /**
     * Starts a pool of devices of this node.
     *
     * @param name the pool's name, by convention the node's
     * @return a builder
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Builder builder(String name) {
        return new Builder(new PoolName(Objects.requireNonNull(name, "name")));
    }

    /**
     * Returns a pool of devices of the node that the driver runs on.
     *
     * @param name the pool's name, by convention the node's
     * @param devices the devices, in order of preference
     * @return the pool
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Pool ofNode(String name, List<Device> devices) {
        return builder(name).devices(devices).build();
    }

    /**
     * Returns a pool that another component publishes, and whose devices this driver prepares.
     *
     * <p>Whether a device of such a pool exists is for the provider to check when it prepares it.
     *
     * @param name the pool's name
     * @return the pool, without devices
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Pool publishedElsewhere(String name) {
        return builder(name).placement(new Placement.PublishedElsewhere()).build();
    }

    /** {@return a builder that holds what this one holds} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.name);
        builder.placement = values.placement;
        builder.devices.addAll(values.devices);
        builder.counterSets.addAll(values.counterSets);
        return builder;
    }

    /** {@return the pool's name} */
    public PoolName name() {
        return values.name;
    }

    /** {@return from which nodes its devices can be used} */
    public Placement placement() {
        return values.placement;
    }

    /** {@return the devices, with names that are unique in the pool, in order of preference} */
    public List<Device> devices() {
        return values.devices;
    }

    /** {@return what the devices share, with names that are unique in the pool} */
    public List<CounterSet> counterSets() {
        return values.counterSets;
    }

    /**
     * Returns this pool with counter sets that its devices consume.
     *
     * @param sets the counter sets
     * @return a copy of this pool
     */
    public Pool withCounterSets(List<CounterSet> sets) {
        return toBuilder().counterSets(Objects.requireNonNull(sets, "sets")).build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Pool that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "Pool");
    }

    private record Values(
            PoolName name,
            Placement placement,
            List<Device> devices,
            List<CounterSet> counterSets) {

        private Values {
            devices = List.copyOf(devices);
            counterSets = List.copyOf(counterSets);
        }
    }

    /** Builds a {@link Pool}; not thread-safe. */
    public static final class Builder {
        private final PoolName name;
        private Placement placement = new Placement.ThisNode();
        private final List<Device> devices = new ArrayList<>();
        private final List<CounterSet> counterSets = new ArrayList<>();

        private Builder(PoolName name) {
            this.name = name;
        }

        /**
         * Sets from which nodes the devices can be used; from this node by default.
         *
         * @param placement the nodes
         * @return this builder
         */
        public Builder placement(Placement placement) {
            this.placement = Objects.requireNonNull(placement, "placement");
            return this;
        }

        /**
         * Adds a device, which the scheduler takes after those added before.
         *
         * @param device the device
         * @return this builder
         */
        public Builder device(Device device) {
            devices.add(Objects.requireNonNull(device, "device"));
            return this;
        }

        /**
         * Replaces all devices.
         *
         * @param devices the devices, in order of preference
         * @return this builder
         */
        public Builder devices(Collection<Device> devices) {
            List<Device> copy = List.copyOf(Objects.requireNonNull(devices, "devices"));
            this.devices.clear();
            this.devices.addAll(copy);
            return this;
        }

        /**
         * Adds counters that devices share.
         *
         * @param counterSet the counters
         * @return this builder
         */
        public Builder counterSet(CounterSet counterSet) {
            counterSets.add(Objects.requireNonNull(counterSet, "counterSet"));
            return this;
        }

        /**
         * Replaces all counter sets.
         *
         * @param counterSets the counter sets
         * @return this builder
         */
        public Builder counterSets(Collection<CounterSet> counterSets) {
            List<CounterSet> copy = List.copyOf(Objects.requireNonNull(counterSets, "counterSets"));
            this.counterSets.clear();
            this.counterSets.addAll(copy);
            return this;
        }

        /** {@return what this builder holds now} */
        public Pool build() {
            return new Pool(this);
        }
    }
}
