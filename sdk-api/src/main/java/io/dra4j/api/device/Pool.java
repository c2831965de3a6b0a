// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A set of devices that is published, and becomes valid, only as a whole.
 *
 * <p>An empty pool is published as empty; a pool that is no longer in the inventory is withdrawn.
 *
 * <p>The order of the devices is an order of preference. From Kubernetes 1.36 on, the scheduler takes the first device
 * that fits: it goes through the pools by name, those without binding conditions first, through the slices of a pool by
 * name, and through the devices of a slice from first to last. The SDK names slices and fills them so that the
 * scheduler meets the devices of a pool in the order of {@link #devices()}, across all slices, regardless of earlier
 * additions and removals. A different order is a different inventory, for which slices are written again, so list
 * devices in a stable order. In Kubernetes 1.34, whose scheduler has no defined order, devices that consume counters
 * are in the slices of their counter sets instead.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/"> ResourceSlice,
 *     pool</a>
 */
public final class Pool {

    private final Values values;

    private Pool(Builder builder) {
        values = new Values(
                builder.name,
                builder.placement,
                builder.devices,
                builder.counterSets,
                builder.partitionTypeAttribute,
                builder.skipNodeOperations);
    }

    /**
     * Returns a builder for a pool of devices of this node.
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
     * <p>The provider checks whether a device of such a pool exists when it prepares the device.
     *
     * @param name the pool's name
     * @return the pool, without devices
     * @throws IllegalArgumentException if the name is not a pool name
     */
    public static Pool publishedElsewhere(String name) {
        return builder(name).placement(new Placement.PublishedElsewhere()).build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.name);
        builder.placement = values.placement;
        builder.devices.addAll(values.devices);
        builder.counterSets.addAll(values.counterSets);
        builder.partitionTypeAttribute = values.partitionTypeAttribute;
        builder.skipNodeOperations.addAll(values.skipNodeOperations);
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

    /** {@return the devices, with unique names in the pool, in order of preference} */
    public List<Device> devices() {
        return values.devices;
    }

    /** {@return the counter sets that the devices share, with unique names in the pool} */
    public List<CounterSet> counterSets() {
        return values.counterSets;
    }

    /** {@return the attribute that names the type of each device that consumes counters; {@code null} for none} */
    public @Nullable String partitionTypeAttribute() {
        return values.partitionTypeAttribute;
    }

    /** {@return the calls of the kubelet that the devices do not need; empty for none} */
    public Set<NodeOperation> skipNodeOperations() {
        return values.skipNodeOperations;
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
        return this == other || (other instanceof Pool that && values.all().equals(that.values.all()));
    }

    @Override
    public int hashCode() {
        return values.all().hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "Pool");
    }

    private record Values(
            PoolName name,
            Placement placement,
            List<Device> devices,
            List<CounterSet> counterSets,
            @Nullable String partitionTypeAttribute,
            Set<NodeOperation> skipNodeOperations) {

        private Values {
            devices = List.copyOf(devices);
            counterSets = List.copyOf(counterSets);
            skipNodeOperations = Collections.unmodifiableSet(new TreeSet<>(skipNodeOperations));
        }

        /** Comparing a record costs the start of a driver some milliseconds. */
        List<@Nullable Object> all() {
            return Arrays.asList(name, placement, devices, counterSets, partitionTypeAttribute, skipNodeOperations);
        }
    }

    /** Builds a {@link Pool}; not thread-safe. */
    public static final class Builder {
        private final PoolName name;
        private Placement placement = new Placement.ThisNode();
        private List<Device> devices = new ArrayList<>();
        private List<CounterSet> counterSets = new ArrayList<>();
        private @Nullable String partitionTypeAttribute;
        private Set<NodeOperation> skipNodeOperations = new TreeSet<>();

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
            devices.add(Objects.requireNonNull(
                    device, () -> "device: devices[" + devices.size() + "] of pool " + name + " is null"));
            return this;
        }

        /**
         * Replaces all devices.
         *
         * @param devices the devices, in order of preference
         * @return this builder
         */
        public Builder devices(Collection<Device> devices) {
            Objects.requireNonNull(devices, "devices");
            this.devices = fresh(all -> devices.forEach(all::device)).devices;
            return this;
        }

        /**
         * Adds counters that devices share.
         *
         * @param counterSet the counters
         * @return this builder
         */
        public Builder counterSet(CounterSet counterSet) {
            counterSets.add(Objects.requireNonNull(
                    counterSet,
                    () -> "counterSet: counterSets[" + counterSets.size() + "] of pool " + name + " is null"));
            return this;
        }

        /**
         * Replaces all counter sets.
         *
         * @param counterSets the counter sets
         * @return this builder
         */
        public Builder counterSets(Collection<CounterSet> counterSets) {
            Objects.requireNonNull(counterSets, "counterSets");
            this.counterSets = fresh(all -> counterSets.forEach(all::counterSet)).counterSets;
            return this;
        }

        /**
         * Names the attribute that holds the type of each device that consumes counters.
         *
         * <p>Tools use it to count free partitions. Devices of one type take equal amounts of counters.
         *
         * @param attribute the attribute's name with its domain: a string attribute of each device
         *     that consumes counters; {@code null} for none
         * @return this builder
         * @see <a
         *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5677-dra-resource-pool-status">
         *     KEP-5677</a>
         */
        public Builder partitionTypeAttribute(@Nullable String attribute) {
            partitionTypeAttribute = attribute;
            return this;
        }

        /**
         * Lets the kubelet skip a call for claims with devices of this pool.
         *
         * <p>It is for devices that need nothing on the node. Where the server drops this field, the devices are
         * withheld: their pods would wait for a driver that does not run.
         *
         * @param operation the call
         * @return this builder
         */
        public Builder skipNodeOperation(NodeOperation operation) {
            skipNodeOperations.add(
                    Objects.requireNonNull(operation, () -> "operation: one of pool " + name + " is null"));
            return this;
        }

        /**
         * Replaces the calls that the kubelet skips for claims with devices of this pool.
         *
         * @param operations the calls; none to skip none
         * @return this builder
         */
        public Builder skipNodeOperations(Collection<NodeOperation> operations) {
            Objects.requireNonNull(operations, "operations");
            skipNodeOperations = fresh(all -> operations.forEach(all::skipNodeOperation)).skipNodeOperations;
            return this;
        }

        /** Fills a separate builder first, so that a null element leaves this one unchanged. */
        private Builder fresh(Consumer<Builder> fill) {
            Builder fresh = new Builder(name);
            fill.accept(fresh);
            return fresh;
        }

        /** {@return an object with the values of this builder} */
        public Pool build() {
            return new Pool(this);
        }
    }
}
