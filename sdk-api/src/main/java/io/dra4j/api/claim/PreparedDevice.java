// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.container.ContainerEdits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The result of preparing one allocated device. */
public final class PreparedDevice {

    private final Values values;

    private PreparedDevice(Builder builder) {
        values = new Values(builder.allocated, builder.edits, builder.cdiDeviceIds, builder.status, builder.metadata);
    }

    /**
     * Returns a builder for a device that gives containers nothing.
     *
     * @param allocated the device, as it was requested
     * @return a builder
     */
    public static Builder builder(AllocatedDevice allocated) {
        return new Builder(Objects.requireNonNull(allocated, "allocated"));
    }

    /**
     * Returns a device that is prepared with only container edits.
     *
     * @param allocated the device, as it was requested
     * @param edits the changes to a container that uses the device
     * @return the prepared device
     */
    public static PreparedDevice of(AllocatedDevice allocated, ContainerEdits edits) {
        return builder(allocated).edits(edits).build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.allocated);
        builder.edits = values.edits;
        builder.cdiDeviceIds.addAll(values.cdiDeviceIds);
        builder.status = values.status;
        builder.metadata = values.metadata;
        return builder;
    }

    /** {@return the device, as it was requested} */
    public AllocatedDevice allocated() {
        return values.allocated;
    }

    /** {@return the changes to a container that uses the device} */
    public ContainerEdits edits() {
        return values.edits;
    }

    /**
     * {@return ids of CDI devices that already exist, in specs that the driver maintains itself, as {@code
     * vendor/class=name}}
     */
    public List<String> cdiDeviceIds() {
        return values.cdiDeviceIds;
    }

    /** {@return the report about the device in the claim's status, or {@code null}} */
    public @Nullable DeviceStatus status() {
        return values.status;
    }

    /** {@return the metadata of the device that containers read, or {@code null}} */
    public @Nullable DeviceMetadata metadata() {
        return values.metadata;
    }

    /**
     * Adds a report to the claim's status.
     *
     * @param report the report
     * @return a copy of this device
     */
    public PreparedDevice withStatus(DeviceStatus report) {
        return toBuilder().status(Objects.requireNonNull(report, "report")).build();
    }

    /**
     * Adds metadata that containers read.
     *
     * @param readable the metadata
     * @return a copy of this device
     */
    public PreparedDevice withMetadata(DeviceMetadata readable) {
        return toBuilder()
                .metadata(Objects.requireNonNull(readable, "readable"))
                .build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PreparedDevice that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "PreparedDevice");
    }

    private record Values(
            AllocatedDevice allocated,
            ContainerEdits edits,
            List<String> cdiDeviceIds,
            @Nullable DeviceStatus status,
            @Nullable DeviceMetadata metadata) {

        private Values {
            cdiDeviceIds = List.copyOf(cdiDeviceIds);
        }
    }

    /** Builds a {@link PreparedDevice}; not thread-safe. */
    public static final class Builder {
        private final AllocatedDevice allocated;
        private ContainerEdits edits = ContainerEdits.NONE;
        private List<String> cdiDeviceIds = new ArrayList<>();
        private @Nullable DeviceStatus status;
        private @Nullable DeviceMetadata metadata;

        private Builder(AllocatedDevice allocated) {
            this.allocated = allocated;
        }

        /**
         * Sets the changes to a container that uses the device; none by default.
         *
         * @param edits the edits
         * @return this builder
         */
        public Builder edits(ContainerEdits edits) {
            this.edits = Objects.requireNonNull(edits, "edits");
            return this;
        }

        /**
         * Adds the id of a CDI device that already exists.
         *
         * <p>The driver maintains its spec itself.
         *
         * @param cdiDeviceId an id of the form {@code vendor/class=name}
         * @return this builder
         */
        public Builder cdiDeviceId(String cdiDeviceId) {
            cdiDeviceIds.add(Objects.requireNonNull(
                    cdiDeviceId, () -> "cdiDeviceId: cdiDeviceIds[" + cdiDeviceIds.size() + "] is null"));
            return this;
        }

        /**
         * Replaces the ids of CDI devices that already exist.
         *
         * @param cdiDeviceIds the ids
         * @return this builder
         */
        public Builder cdiDeviceIds(Collection<String> cdiDeviceIds) {
            Objects.requireNonNull(cdiDeviceIds, "cdiDeviceIds");
            Builder fresh = new Builder(allocated);
            cdiDeviceIds.forEach(fresh::cdiDeviceId);
            this.cdiDeviceIds = fresh.cdiDeviceIds;
            return this;
        }

        /**
         * Sets the report about the device in the claim's status.
         *
         * <p>Parts that break a rule of the API are logged and left out, see {@link DeviceStatus}.
         *
         * @param status the report, or {@code null}
         * @return this builder
         */
        public Builder status(@Nullable DeviceStatus status) {
            this.status = status;
            return this;
        }

        /**
         * Sets the metadata of the device that containers read.
         *
         * @param metadata the metadata, or {@code null}
         * @return this builder
         */
        public Builder metadata(@Nullable DeviceMetadata metadata) {
            this.metadata = metadata;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public PreparedDevice build() {
            return new PreparedDevice(this);
        }
    }
}
