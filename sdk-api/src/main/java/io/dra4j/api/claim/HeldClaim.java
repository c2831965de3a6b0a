// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A claim in the driver's journal: prepared, being prepared, or not yet cleaned up.
 *
 * <p>The claim's object may be gone from the API server.
 */
public final class HeldClaim {

    private final Values values;

    private HeldClaim(Builder builder) {
        values = new Values(builder.ref, builder.phase, builder.beforeReboot, builder.devices, builder.state);
    }

    /**
     * Returns a builder for a prepared claim without devices.
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
        builder.phase = values.phase;
        builder.beforeReboot = values.beforeReboot;
        builder.devices.addAll(values.devices);
        builder.state = values.state;
        return builder;
    }

    /** {@return the name of the claim} */
    public ClaimRef ref() {
        return values.ref;
    }

    /** {@return the claim's phase} */
    public Phase phase() {
        return values.phase;
    }

    /**
     * {@return whether the record was written before the node's last boot; state in the kernel or on a volatile file
     * system is then gone, but some attachments of hardware remain}
     */
    public boolean beforeReboot() {
        return values.beforeReboot;
    }

    /** {@return the devices that it holds} */
    public List<HeldDevice> devices() {
        return values.devices;
    }

    /**
     * {@return the last state that the provider checkpointed or returned; {@code null} if it did neither, or if the
     * record is lost}
     */
    public @Nullable ProviderState state() {
        return values.state;
    }

    /**
     * The phase of a held claim.
     *
     * <p>{@code unprepare} sees the phase in which the call found the claim: usually {@link #PREPARED}, {@link
     * #PREPARING} to undo a preparation that did not finish, {@link #UNPREPARING} if an earlier call did not finish. A
     * claim that is {@link #DAMAGED} stays so in every call until one succeeds. Unless the phase is {@code DAMAGED}, a
     * state of {@code null} means that the provider recorded none.
     */
    public enum Phase {
        /** Preparation began and did not finish: any part of it may have been done. */
        PREPARING,
        /** It is prepared. */
        PREPARED,
        /** Unpreparation began and did not finish: any part of it may have been done. */
        UNPREPARING,
        /**
         * The claim's record is lost, and with it the state.
         *
         * <p>The claim is known from what is left of the record, from its CDI spec, or from the API server. Containers
         * may be using its devices, even when the kubelet has the claim prepared again after its own restart; the list
         * of devices may be too long, or empty.
         */
        DAMAGED
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HeldClaim that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "HeldClaim");
    }

    private record Values(
            ClaimRef ref,
            Phase phase,
            boolean beforeReboot,
            List<HeldDevice> devices,
            @Nullable ProviderState state) {

        private Values {
            devices = List.copyOf(devices);
        }
    }

    /** Builds a {@link HeldClaim}; not thread-safe. */
    public static final class Builder {
        private final ClaimRef ref;
        private Phase phase = Phase.PREPARED;
        private boolean beforeReboot;
        private List<HeldDevice> devices = new ArrayList<>();
        private @Nullable ProviderState state;

        private Builder(ClaimRef ref) {
            this.ref = ref;
        }

        /**
         * Sets the claim's phase; {@code PREPARED} by default.
         *
         * @param phase the phase
         * @return this builder
         */
        public Builder phase(Phase phase) {
            this.phase = Objects.requireNonNull(phase, "phase");
            return this;
        }

        /**
         * Sets whether the record was written before the node's last boot.
         *
         * @param beforeReboot whether it was
         * @return this builder
         */
        public Builder beforeReboot(boolean beforeReboot) {
            this.beforeReboot = beforeReboot;
            return this;
        }

        /**
         * Adds a device that it holds.
         *
         * @param device the device
         * @return this builder
         */
        public Builder device(HeldDevice device) {
            devices.add(Objects.requireNonNull(device, () -> "device: devices[" + devices.size() + "] is null"));
            return this;
        }

        /**
         * Replaces the devices that it holds.
         *
         * @param devices the devices
         * @return this builder
         */
        public Builder devices(Collection<HeldDevice> devices) {
            Objects.requireNonNull(devices, "devices");
            Builder fresh = new Builder(ref);
            devices.forEach(fresh::device);
            this.devices = fresh.devices;
            return this;
        }

        /**
         * Sets the last state that the provider checkpointed or returned.
         *
         * @param state the state, or {@code null}
         * @return this builder
         */
        public Builder state(@Nullable ProviderState state) {
            this.state = state;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public HeldClaim build() {
            return new HeldClaim(this);
        }
    }
}
