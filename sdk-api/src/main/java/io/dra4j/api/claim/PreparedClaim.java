// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.container.ContainerEdits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of preparing a claim.
 *
 * <p>It only describes what containers receive: the runtime keeps it in the journal, and can write the CDI spec from it
 * again at any time without the provider. A result without devices is legal, for drivers that inject by other means
 * (NRI); a result with only some of the claim's devices is an error.
 *
 * <p>A container uses all devices of a request, or of the claim. Two devices of one request must not have different
 * device nodes or mounts at one path, or interfaces with one name: otherwise the claim is refused, and an Event on the
 * pod names the driver's mistake. Such conflicts between devices of two requests, and different values of one variable,
 * are logged: a container that uses both gets the last value. The {@linkplain #edits edits of the claim} come first,
 * and those of a device replace them.
 */
public final class PreparedClaim {

    private final Values values;

    private PreparedClaim(Builder builder) {
        values = new Values(builder.devices, builder.edits, builder.state);
    }

    /**
     * Returns a builder for a result without devices.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a result with only devices.
     *
     * @param devices the prepared devices
     * @return the result
     */
    public static PreparedClaim of(List<PreparedDevice> devices) {
        return builder().devices(devices).build();
    }

    /**
     * Returns the result of a driver that injects nothing through CDI.
     *
     * @return a result without devices
     */
    public static PreparedClaim empty() {
        return builder().build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.devices.addAll(values.devices);
        builder.edits = values.edits;
        builder.state = values.state;
        return builder;
    }

    /** {@return the prepared devices, each an allocated device of the claim} */
    public List<PreparedDevice> devices() {
        return values.devices;
    }

    /** {@return the changes, made once, to every container that uses any device of the claim} */
    public ContainerEdits edits() {
        return values.edits;
    }

    /** {@return the state that the provider needs when the claim is unprepared, or {@code null}} */
    public @Nullable ProviderState state() {
        return values.state;
    }

    /**
     * Sets the changes to every container of the claim.
     *
     * @param claimEdits the edits
     * @return a copy of this result
     */
    public PreparedClaim withEdits(ContainerEdits claimEdits) {
        return toBuilder()
                .edits(Objects.requireNonNull(claimEdits, "claimEdits"))
                .build();
    }

    /**
     * Sets the state that the provider needs when the claim is unprepared.
     *
     * @param kept the state
     * @return a copy of this result
     */
    public PreparedClaim withState(ProviderState kept) {
        return toBuilder().state(Objects.requireNonNull(kept, "kept")).build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PreparedClaim that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "PreparedClaim");
    }

    private record Values(
            List<PreparedDevice> devices,
            ContainerEdits edits,
            @Nullable ProviderState state) {

        private Values {
            devices = List.copyOf(devices);
        }
    }

    /** Builds a {@link PreparedClaim}; not thread-safe. */
    public static final class Builder {
        private List<PreparedDevice> devices = new ArrayList<>();
        private ContainerEdits edits = ContainerEdits.NONE;
        private @Nullable ProviderState state;

        private Builder() {}

        /**
         * Adds a prepared device.
         *
         * @param device the device
         * @return this builder
         */
        public Builder device(PreparedDevice device) {
            devices.add(Objects.requireNonNull(device, () -> "device: devices[" + devices.size() + "] is null"));
            return this;
        }

        /**
         * Replaces the prepared devices.
         *
         * @param devices the devices
         * @return this builder
         */
        public Builder devices(Collection<PreparedDevice> devices) {
            Objects.requireNonNull(devices, "devices");
            Builder fresh = new Builder();
            devices.forEach(fresh::device);
            this.devices = fresh.devices;
            return this;
        }

        /**
         * Sets the changes to every container that uses any device of the claim; none by default.
         *
         * @param edits the edits
         * @return this builder
         */
        public Builder edits(ContainerEdits edits) {
            this.edits = Objects.requireNonNull(edits, "edits");
            return this;
        }

        /**
         * Sets the state that the provider needs when the claim is unprepared, if any.
         *
         * @param state the state, or {@code null}
         * @return this builder
         */
        public Builder state(@Nullable ProviderState state) {
            this.state = state;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public PreparedClaim build() {
            return new PreparedClaim(this);
        }
    }
}
