// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A device, or share of a device, that a claim holds on this node.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.allocation.devices.results</a>
 */
public final class HeldDevice {

    private final Values values;

    private HeldDevice(Builder builder) {
        values = new Values(
                builder.request,
                builder.pool,
                builder.device,
                builder.physicalId,
                builder.subrequest,
                builder.shareId,
                builder.consumedCapacity,
                builder.adminAccess);
    }

    /**
     * Returns a builder for a device.
     *
     * @param request the name of the request in the claim
     * @param pool the device's pool
     * @param device the device; it may have left the inventory since
     * @return a builder
     */
    public static Builder builder(String request, PoolName pool, DeviceName device) {
        return new Builder(
                Objects.requireNonNull(request, "request"),
                Objects.requireNonNull(pool, "pool"),
                Objects.requireNonNull(device, "device"));
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.request, values.pool, values.device);
        builder.physicalId = values.physicalId;
        builder.subrequest = values.subrequest;
        builder.shareId = values.shareId;
        builder.consumedCapacity.putAll(values.consumedCapacity);
        builder.adminAccess = values.adminAccess;
        return builder;
    }

    /** {@return the name of the request in the claim} */
    public String request() {
        return values.request;
    }

    /** {@return the device's pool} */
    public PoolName pool() {
        return values.pool;
    }

    /** {@return the device; it may have left the inventory since} */
    public DeviceName device() {
        return values.device;
    }

    /**
     * {@return the id of the hardware that the device's name referred to when the claim was prepared; {@code null} if
     * the device had none}
     */
    public @Nullable String physicalId() {
        return values.physicalId;
    }

    /** {@return the alternative that was chosen in a prioritized list, or {@code null}} */
    public @Nullable String subrequest() {
        return values.subrequest;
    }

    /** {@return the id of a share of a device that allows multiple allocations, a UUID; otherwise {@code null}} */
    public @Nullable String shareId() {
        return values.shareId;
    }

    /**
     * {@return how much of the device's capacities the share has, by name; empty for a whole device; names never
     * contain the driver's own domain, even if they are published or requested with it}
     */
    public Map<String, Quantity> consumedCapacity() {
        return values.consumedCapacity;
    }

    /**
     * {@return whether the claim has admin access to the device, which neither reserves the device nor excludes other
     * claims}
     */
    public boolean adminAccess() {
        return values.adminAccess;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HeldDevice that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "HeldDevice");
    }

    private record Values(
            String request,
            PoolName pool,
            DeviceName device,
            @Nullable String physicalId,
            @Nullable String subrequest,
            @Nullable String shareId,
            Map<String, Quantity> consumedCapacity,
            boolean adminAccess) {

        private Values {
            consumedCapacity = Collections.unmodifiableMap(new LinkedHashMap<>(consumedCapacity));
        }
    }

    /** Builds a {@link HeldDevice}; not thread-safe. */
    public static final class Builder {
        private final String request;
        private final PoolName pool;
        private final DeviceName device;
        private @Nullable String physicalId;
        private @Nullable String subrequest;
        private @Nullable String shareId;
        private Map<String, Quantity> consumedCapacity = new LinkedHashMap<>();
        private boolean adminAccess;

        private Builder(String request, PoolName pool, DeviceName device) {
            this.request = request;
            this.pool = pool;
            this.device = device;
        }

        /**
         * Sets the id of the hardware behind the device's name.
         *
         * @param physicalId the id, or {@code null}
         * @return this builder
         */
        public Builder physicalId(@Nullable String physicalId) {
            this.physicalId = physicalId;
            return this;
        }

        /**
         * Sets the alternative that was chosen in a prioritized list, or {@code null}.
         *
         * @param subrequest its name, or {@code null}
         * @return this builder
         */
        public Builder subrequest(@Nullable String subrequest) {
            this.subrequest = subrequest;
            return this;
        }

        /**
         * Sets the share of a device that allows multiple allocations.
         *
         * @param shareId the share's id, a UUID; {@code null} for the whole device
         * @return this builder
         */
        public Builder shareId(@Nullable String shareId) {
            this.shareId = shareId;
            return this;
        }

        /**
         * Sets how much of one of the device's capacities the share has.
         *
         * @param name the capacity's name
         * @param quantity how much
         * @return this builder
         */
        public Builder consumedCapacity(String name, Quantity quantity) {
            consumedCapacity.put(
                    Objects.requireNonNull(name, "name"),
                    Objects.requireNonNull(quantity, () -> "quantity: capacity " + name + " is null"));
            return this;
        }

        /**
         * Replaces how much of the device's capacities the share has.
         *
         * @param consumedCapacity the amounts by name
         * @return this builder
         */
        public Builder consumedCapacity(Map<String, Quantity> consumedCapacity) {
            Objects.requireNonNull(consumedCapacity, "consumedCapacity");
            Builder fresh = new Builder(request, pool, device);
            consumedCapacity.forEach(fresh::consumedCapacity);
            this.consumedCapacity = fresh.consumedCapacity;
            return this;
        }

        /**
         * Sets whether the claim has admin access to the device.
         *
         * @param adminAccess whether it has
         * @return this builder
         */
        public Builder adminAccess(boolean adminAccess) {
            this.adminAccess = adminAccess;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public HeldDevice build() {
            return new HeldDevice(this);
        }
    }
}
