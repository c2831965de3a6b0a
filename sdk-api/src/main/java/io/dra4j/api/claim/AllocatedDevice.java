// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One device, or share of a device, that a claim was allocated for one request.
 *
 * <p>It contains the {@linkplain #held device as the claim holds it}, and what is known only while it is prepared: the
 * class and the configurations.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.allocation.devices.results</a>
 */
public final class AllocatedDevice {

    private final Values values;
    private final @Nullable List<ConfigType<?>> knownTypes; // not part of the value; null allows any

    private AllocatedDevice(Builder builder) {
        values = new Values(builder.held, builder.deviceClass, builder.configs);
        knownTypes = builder.knownTypes;
    }

    /**
     * Returns a builder for a device that a claim is allocated as a whole, without configurations.
     *
     * @param request the name of the request in the claim
     * @param pool the device's pool
     * @param device the device
     * @return a builder
     */
    public static Builder builder(String request, PoolName pool, DeviceName device) {
        return builder(HeldDevice.builder(request, pool, device).build());
    }

    /**
     * Returns a builder for a device without class and configurations.
     *
     * @param held the device as the claim holds it
     * @return a builder
     */
    public static Builder builder(HeldDevice held) {
        return new Builder(Objects.requireNonNull(held, "held"));
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.held);
        builder.deviceClass = values.deviceClass;
        builder.configs.addAll(values.configs);
        builder.knownTypes = knownTypes;
        return builder;
    }

    /** {@return this device as the claim holds it; reports identify the device by this value} */
    public HeldDevice held() {
        return values.held;
    }

    /** {@return the DeviceClass that the request names; {@code null} if the claim names none} */
    public @Nullable String deviceClass() {
        return values.deviceClass;
    }

    /** {@return the configurations that apply to the device, at most one for each {@link ConfigType}} */
    public List<AppliedConfig<?>> configs() {
        return values.configs;
    }

    /** {@return the name of the request in the claim} */
    public String request() {
        return values.held.request();
    }

    /** {@return the device's pool} */
    public PoolName pool() {
        return values.held.pool();
    }

    /** {@return the device} */
    public DeviceName device() {
        return values.held.device();
    }

    /** {@return the alternative that was chosen in a prioritized list, or {@code null}} */
    public @Nullable String subrequest() {
        return values.held.subrequest();
    }

    /** {@return the id of a share of a device that allows multiple allocations, a UUID; otherwise {@code null}} */
    public @Nullable String shareId() {
        return values.held.shareId();
    }

    /**
     * {@return how much of the device's capacities the share has, by name; empty for a whole device; names never
     * contain the driver's own domain, even if they are published or requested with it}
     */
    public Map<String, Quantity> consumedCapacity() {
        return values.held.consumedCapacity();
    }

    /**
     * {@return whether the claim has admin access to the device, which neither reserves the device nor excludes other
     * claims}
     */
    public boolean adminAccess() {
        return values.held.adminAccess();
    }

    /**
     * Returns the configuration of one kind that applies to the device.
     *
     * @param type the kind
     * @param <T> the vendor's type
     * @return the configuration; the defaults if no entry applies
     * @throws PrepareException if none applies and the kind has no defaults; its message asks the owner of the pod for
     *     one
     * @throws IllegalStateException if the driver did not declare the kind by {@link
     *     io.dra4j.api.DeviceProvider#configTypes}
     */
    public <T> AppliedConfig<T> config(ConfigType<T> type) {
        return findConfig(type)
                .orElseThrow(() -> new PrepareException(
                        "no %s (%s) is given for device %s of request %s: add one to the claim's configurations, or to its class's"
                                .formatted(type.kind(), type.apiVersion(), device(), request())));
    }

    /**
     * Finds the configuration of one kind that applies to the device.
     *
     * @param type the kind
     * @param <T> the vendor's type
     * @return the configuration, or empty if none applies and the kind has no defaults
     * @throws IllegalStateException if the driver did not declare the kind by {@link
     *     io.dra4j.api.DeviceProvider#configTypes}
     */
    public <T> Optional<AppliedConfig<T>> findConfig(ConfigType<T> type) {
        Objects.requireNonNull(type, "type");
        if (knownTypes != null && knownTypes.stream().noneMatch(known -> known.type() == type.type())) {
            throw new IllegalStateException("DeviceProvider.configTypes() does not return " + type
                    + ", which was requested; it returns " + knownTypes);
        }
        return configs().stream()
                .filter(config -> type.type().isInstance(config.value()))
                .map(config -> new AppliedConfig<>(
                        type.type().cast(config.value()), config.source(), config.index(), config.requests()))
                .findFirst();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AllocatedDevice that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "AllocatedDevice");
    }

    private record Values(HeldDevice held, @Nullable String deviceClass, List<AppliedConfig<?>> configs) {

        private Values {
            configs = List.copyOf(configs);
        }
    }

    /** Builds an {@link AllocatedDevice}; not thread-safe. */
    public static final class Builder {
        private HeldDevice held;
        private @Nullable String deviceClass;
        private List<AppliedConfig<?>> configs = new ArrayList<>();
        private @Nullable List<ConfigType<?>> knownTypes;

        private Builder(HeldDevice held) {
            this.held = held;
        }

        /**
         * Sets the DeviceClass that the request names.
         *
         * @param deviceClass its name, or {@code null}
         * @return this builder
         */
        public Builder deviceClass(@Nullable String deviceClass) {
            this.deviceClass = deviceClass;
            return this;
        }

        /**
         * Adds a configuration that applies to the device.
         *
         * @param config the configuration
         * @return this builder
         */
        public Builder config(AppliedConfig<?> config) {
            configs.add(Objects.requireNonNull(config, () -> "config: configs[" + configs.size() + "] is null"));
            return this;
        }

        /**
         * Replaces the configurations that apply to the device.
         *
         * @param configs the configurations
         * @return this builder
         */
        public Builder configs(Collection<? extends AppliedConfig<?>> configs) {
            Objects.requireNonNull(configs, "configs");
            Builder fresh = new Builder(held);
            configs.forEach(fresh::config);
            this.configs = fresh.configs;
            return this;
        }

        /**
         * Sets the kinds that the driver declares; asking for another is an error. By default any kind is allowed.
         *
         * @param types the kinds
         * @return this builder
         */
        public Builder knownTypes(Collection<? extends ConfigType<?>> types) {
            knownTypes = List.copyOf(Objects.requireNonNull(types, "types"));
            return this;
        }

        /**
         * Sets the alternative that was chosen in a prioritized list, or {@code null}.
         *
         * @param subrequest its name, or {@code null}
         * @return this builder
         */
        public Builder subrequest(@Nullable String subrequest) {
            held = held.toBuilder().subrequest(subrequest).build();
            return this;
        }

        /**
         * Sets the share of a device that allows multiple allocations.
         *
         * @param shareId the share's id, a UUID; {@code null} for the whole device
         * @return this builder
         */
        public Builder shareId(@Nullable String shareId) {
            held = held.toBuilder().shareId(shareId).build();
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
            held = held.toBuilder().consumedCapacity(name, quantity).build();
            return this;
        }

        /**
         * Sets whether the claim has admin access to the device.
         *
         * @param adminAccess whether it has
         * @return this builder
         */
        public Builder adminAccess(boolean adminAccess) {
            held = held.toBuilder().adminAccess(adminAccess).build();
            return this;
        }

        /** {@return an object with the values of this builder} */
        public AllocatedDevice build() {
            return new AllocatedDevice(this);
        }
    }
}
