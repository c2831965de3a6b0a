// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A claim to be prepared, with the devices of this driver.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.allocation</a>
 */
public final class AllocatedClaim {

    private final Values values;

    private AllocatedClaim(Builder builder) {
        values = new Values(builder.ref, builder.devices, builder.rawJson);
    }

    /**
     * Returns a builder for a claim without devices.
     *
     * @param ref the name of the claim
     * @return a builder
     */
    public static Builder builder(ClaimRef ref) {
        return new Builder(Objects.requireNonNull(ref, "ref"));
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.ref);
        builder.devices.addAll(values.devices);
        builder.rawJson = values.rawJson;
        return builder;
    }

    /** {@return the name of the claim} */
    public ClaimRef ref() {
        return values.ref;
    }

    /** {@return the devices of this driver that the claim was allocated, in the allocation's order} */
    public List<AllocatedDevice> devices() {
        return values.devices;
    }

    /**
     * {@return the whole ResourceClaim as the API server returned it, as JSON text, for the rare driver that needs more
     * of it}
     */
    public String rawJson() {
        return values.rawJson;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AllocatedClaim that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "AllocatedClaim");
    }

    private record Values(ClaimRef ref, List<AllocatedDevice> devices, String rawJson) {

        private Values {
            devices = List.copyOf(devices);
        }
    }

    /** Builds an {@link AllocatedClaim}; not thread-safe. */
    public static final class Builder {
        private final ClaimRef ref;
        private List<AllocatedDevice> devices = new ArrayList<>();
        private String rawJson = "{}";

        private Builder(ClaimRef ref) {
            this.ref = ref;
        }

        /**
         * Adds a device that the claim was allocated.
         *
         * @param device the device
         * @return this builder
         */
        public Builder device(AllocatedDevice device) {
            devices.add(Objects.requireNonNull(device, () -> "device: devices[" + devices.size() + "] is null"));
            return this;
        }

        /**
         * Replaces the devices that the claim was allocated.
         *
         * @param devices the devices, in the allocation's order
         * @return this builder
         */
        public Builder devices(Collection<AllocatedDevice> devices) {
            Objects.requireNonNull(devices, "devices");
            Builder fresh = new Builder(ref);
            devices.forEach(fresh::device);
            this.devices = fresh.devices;
            return this;
        }

        /**
         * Sets the whole ResourceClaim; an empty object by default.
         *
         * @param rawJson the ResourceClaim as JSON text
         * @return this builder
         */
        public Builder rawJson(String rawJson) {
            this.rawJson = Objects.requireNonNull(rawJson, "rawJson");
            return this;
        }

        /** {@return an object with the values of this builder} */
        public AllocatedClaim build() {
            return new AllocatedClaim(this);
        }
    }
}
