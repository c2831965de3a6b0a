// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The measurements of one device, with its ids in the vendor's own tools. */
public final class DeviceReadings {

    /** Readings without any value. */
    public static final DeviceReadings NONE = builder().build();

    private final Values values;

    private DeviceReadings(Builder builder) {
        values = new Values(builder.uuid, builder.parentUuid, builder.values, builder.parentValues);
    }

    /** {@return a builder of readings without any value} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.uuid = values.uuid;
        builder.parentUuid = values.parentUuid;
        builder.values.putAll(values.values);
        builder.parentValues.putAll(values.parentValues);
        return builder;
    }

    /** {@return the id that other exporters use for the device; {@code null} for the id of its hardware} */
    public @Nullable String uuid() {
        return values.uuid;
    }

    /** {@return the id of the hardware that the device is a part of; {@code null} if it is whole} */
    public @Nullable String parentUuid() {
        return values.parentUuid;
    }

    /** {@return the measurements of the device itself} */
    public Map<DeviceMeasure, Double> values() {
        return values.values;
    }

    /**
     * {@return the measurements of the whole hardware that the device is a part of; the same for each of its parts, so
     * it must not be summed}
     */
    public Map<DeviceMeasure, Double> parentValues() {
        return values.parentValues;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DeviceReadings that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "DeviceReadings");
    }

    private record Values(
            @Nullable String uuid,
            @Nullable String parentUuid,
            Map<DeviceMeasure, Double> values,
            Map<DeviceMeasure, Double> parentValues) {

        private Values {
            values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
            parentValues = Collections.unmodifiableMap(new LinkedHashMap<>(parentValues));
        }
    }

    /** Builds {@link DeviceReadings}; not thread-safe. */
    public static final class Builder {
        private @Nullable String uuid;
        private @Nullable String parentUuid;
        private final Map<DeviceMeasure, Double> values = new LinkedHashMap<>();
        private final Map<DeviceMeasure, Double> parentValues = new LinkedHashMap<>();

        private Builder() {}

        /**
         * Sets the id that other exporters use for the device.
         *
         * @param id the id, or {@code null} for the id of its hardware
         * @return this builder
         */
        public Builder uuid(@Nullable String id) {
            uuid = id;
            return this;
        }

        /**
         * Sets the id of the hardware that the device is a part of.
         *
         * @param id the id, or {@code null} if the device is whole
         * @return this builder
         */
        public Builder parentUuid(@Nullable String id) {
            parentUuid = id;
            return this;
        }

        /**
         * Adds a value of the device itself.
         *
         * @param measure what was measured
         * @param value its value in the measure's unit
         * @return this builder
         * @throws IllegalArgumentException if the value is not a number, or negative but not a temperature
         */
        public Builder value(DeviceMeasure measure, double value) {
            values.put(Objects.requireNonNull(measure, "measure"), checked(measure, value));
            return this;
        }

        /**
         * Adds a value of the whole hardware that the device is a part of.
         *
         * @param measure what was measured
         * @param value its value in the measure's unit
         * @return this builder
         * @throws IllegalArgumentException if the value is not a number, or negative but not a temperature
         */
        public Builder parentValue(DeviceMeasure measure, double value) {
            parentValues.put(Objects.requireNonNull(measure, "measure"), checked(measure, value));
            return this;
        }

        private static double checked(DeviceMeasure measure, double value) {
            boolean isTooLow = value < 0 && measure != DeviceMeasure.TEMPERATURE;
            if (!Double.isFinite(value) || isTooLow) {
                throw new IllegalArgumentException(
                        measure + " can't be " + value + "; leave out what can't be measured");
            }
            return value;
        }

        /** {@return the readings} */
        public DeviceReadings build() {
            return new DeviceReadings(this);
        }
    }
}
