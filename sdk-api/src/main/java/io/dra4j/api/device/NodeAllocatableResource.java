// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The amount of one native resource of the node that an allocation of a device takes.
 *
 * <p>The scheduler counts a mapping as if the pod had requested it, and adds an overhead for pods and containers with
 * the device. At least one of the two is given. Kubernetes 1.36 supports only mappings.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5517-dra-node-allocatable-resources">
 *     KEP-5517</a>
 */
public final class NodeAllocatableResource {

    private final Values values;

    private NodeAllocatableResource(Builder builder) {
        values = new Values(builder.mapping, builder.overhead, builder.mayBeLeftOut);
    }

    /** {@return a builder without a mapping or overhead} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        return builder().mapping(values.mapping).overhead(values.overhead).mayBeLeftOut(values.mayBeLeftOut);
    }

    /** {@return the part of the resource that the device represents; {@code null} for none} */
    public @Nullable Mapping mapping() {
        return values.mapping;
    }

    /** {@return the additional amounts that using the device takes; {@code null} for nothing} */
    public @Nullable Overhead overhead() {
        return values.overhead;
    }

    /** {@return whether the device may be published where the server drops this field} */
    public boolean mayBeLeftOut() {
        return values.mayBeLeftOut;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NodeAllocatableResource that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "NodeAllocatableResource");
    }

    private record Values(
            @Nullable Mapping mapping, @Nullable Overhead overhead, boolean mayBeLeftOut) {}

    /** The part of a node's resource that a device represents. */
    public sealed interface Mapping permits OfCapacity, OfDevice {}

    /**
     * A multiple of the amount of a capacity of the device that a claim takes.
     *
     * @param capacityKey the name of the capacity
     * @param multiplier the amount of the resource in one unit of the capacity, greater than zero
     */
    public record OfCapacity(String capacityKey, Quantity multiplier) implements Mapping {

        /** Checks that nothing is missing. */
        public OfCapacity {
            Objects.requireNonNull(capacityKey, "capacityKey");
            Objects.requireNonNull(multiplier, "multiplier");
        }
    }

    /**
     * The same amount for each allocation of the device.
     *
     * @param multiplier the amount of the resource, greater than zero
     */
    public record OfDevice(Quantity multiplier) implements Mapping {

        /** Checks that nothing is missing. */
        public OfDevice {
            Objects.requireNonNull(multiplier, "multiplier");
        }
    }

    /**
     * The amounts of a resource that using a device takes in addition to the mapping; at least one.
     *
     * @param perPod the amount for each pod; {@code null} for none
     * @param perContainer the amount for each container that refers to the claim; {@code null} for none
     */
    public record Overhead(
            @Nullable Quantity perPod, @Nullable Quantity perContainer) {}

    /** Builds a {@link NodeAllocatableResource}; not thread-safe. */
    public static final class Builder {
        private @Nullable Mapping mapping;
        private @Nullable Overhead overhead;
        private boolean mayBeLeftOut;

        private Builder() {}

        /**
         * Sets the part of the resource that the device represents.
         *
         * <p>A claim for a device with a mapping can't be shared by pods.
         *
         * @param mapping the part; {@code null} for none
         * @return this builder
         */
        public Builder mapping(@Nullable Mapping mapping) {
            this.mapping = mapping;
            return this;
        }

        /**
         * Sets the amounts that using the device takes in addition to the mapping.
         *
         * @param overhead the amounts; {@code null} for none
         * @return this builder
         */
        public Builder overhead(@Nullable Overhead overhead) {
            this.overhead = overhead;
            return this;
        }

        /**
         * Allows the device to be published without this field where the server drops it.
         *
         * <p>Otherwise the device is withheld there: pods with it could overcommit the node.
         *
         * @param mayBeLeftOut whether it is allowed; not by default
         * @return this builder
         */
        public Builder mayBeLeftOut(boolean mayBeLeftOut) {
            this.mayBeLeftOut = mayBeLeftOut;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public NodeAllocatableResource build() {
            return new NodeAllocatableResource(this);
        }
    }
}
