// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.Device;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A kind of opaque configuration that a driver understands, and how it is processed.
 *
 * <p>The runtime decodes each entry for the driver strictly: an unknown field is an error, and so is a value that the
 * vendor's constructor rejects with an {@link IllegalArgumentException}, even in an entry that applies to no device.
 * Only entries that apply to an allocated device are normalized, then validated. Prepare and the offline check use the
 * same chain.
 *
 * <p>Entries of the class come before those of the claim. For each device they are searched from the last to the first,
 * until each kind that applies to the device is found: earlier entries are overridden, and not validated. A kind with a
 * {@linkplain Builder#merge merge} takes all entries instead. The functions must have no side effects and be
 * thread-safe. Two kinds are equal if they are the same object.
 *
 * @param <T> the vendor's type
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"> ResourceClaim,
 *     opaque.parameters</a>
 */
public final class ConfigType<T> {

    private final Values<T> values;

    private ConfigType(Builder<T> builder) {
        values = new Values<>(
                builder.apiVersion,
                builder.kind,
                builder.type,
                builder.defaults,
                builder.normalize,
                builder.validate,
                builder.appliesTo,
                builder.sources,
                builder.merge,
                builder.changesDevice);
    }

    /**
     * Returns a builder for a kind without defaults.
     *
     * @param apiVersion the {@code apiVersion} of an entry, for instance {@code gpu.resource.example.com/v1alpha1}
     * @param kind the {@code kind} of an entry
     * @param type the vendor's type: a record whose components are the entry's other fields; a field that an entry
     *     leaves out is {@code null}, or an error if the component is primitive. The constants of an enum are written
     *     as in Java, in the same case
     * @param <T> the vendor's type
     * @return a builder
     */
    public static <T> Builder<T> builder(String apiVersion, String kind, Class<T> type) {
        return new Builder<>(
                Objects.requireNonNull(apiVersion, "apiVersion"),
                Objects.requireNonNull(kind, "kind"),
                Objects.requireNonNull(type, "type"));
    }

    /** {@return a builder with the values of this object} */
    public Builder<T> toBuilder() {
        Builder<T> builder = new Builder<>(values.apiVersion, values.kind, values.type);
        builder.defaults = values.defaults;
        builder.normalize = values.normalize;
        builder.validate = values.validate;
        builder.appliesTo = values.appliesTo;
        builder.sources = values.sources;
        builder.merge = values.merge;
        builder.changesDevice = values.changesDevice;
        return builder;
    }

    /** {@return the {@code apiVersion} of an entry, for instance {@code gpu.resource.example.com/v1alpha1}} */
    public String apiVersion() {
        return values.apiVersion;
    }

    /** {@return the {@code kind} of an entry} */
    public String kind() {
        return values.kind;
    }

    /**
     * {@return the vendor's type: a record whose components are the entry's other fields; a field that an entry leaves
     * out is {@code null}}
     */
    public Class<T> type() {
        return values.type;
    }

    /** {@return the supplier of the configuration of a device to which no entry applies; {@code null} for none} */
    public @Nullable Supplier<T> defaults() {
        return values.defaults;
    }

    /** {@return the function that fills in what an entry left out} */
    public UnaryOperator<T> normalize() {
        return values.normalize;
    }

    /** {@return the function that returns the problems of a normalized configuration, a sentence each} */
    public Function<T, List<String>> validate() {
        return values.validate;
    }

    /** {@return the predicate that accepts the devices that the kind is for} */
    public Predicate<Device> appliesTo() {
        return values.appliesTo;
    }

    /** {@return the sources that entries may come from} */
    public Set<ConfigSource> sources() {
        return values.sources;
    }

    /** {@return the function that merges an earlier and a later entry; {@code null} if the last entry wins} */
    public @Nullable BinaryOperator<T> merge() {
        return values.merge;
    }

    /** {@return the predicate that accepts the normalized configurations that change the device} */
    public Predicate<T> changesDevice() {
        return values.changesDevice;
    }

    @Override
    public String toString() {
        return apiVersion() + " " + kind();
    }

    private record Values<T>(
            String apiVersion,
            String kind,
            Class<T> type,
            @Nullable Supplier<T> defaults,
            UnaryOperator<T> normalize,
            Function<T, List<String>> validate,
            Predicate<Device> appliesTo,
            Set<ConfigSource> sources,
            @Nullable BinaryOperator<T> merge,
            Predicate<T> changesDevice) {

        private Values {
            sources = Set.copyOf(sources);
        }
    }

    /**
     * Builds a {@link ConfigType}; not thread-safe.
     *
     * @param <T> the vendor's type
     */
    public static final class Builder<T> {
        private final String apiVersion;
        private final String kind;
        private final Class<T> type;
        private @Nullable Supplier<T> defaults;
        private UnaryOperator<T> normalize = UnaryOperator.identity();
        private Function<T, List<String>> validate = value -> List.of();
        private Predicate<Device> appliesTo = device -> true;
        private Set<ConfigSource> sources = EnumSet.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM);
        private @Nullable BinaryOperator<T> merge;
        private Predicate<T> changesDevice = value -> false;

        private Builder(String apiVersion, String kind, Class<T> type) {
            this.apiVersion = apiVersion;
            this.kind = kind;
            this.type = type;
        }

        /**
         * Sets the supplier of the configuration of devices to which no entry applies; none by default.
         *
         * @param defaults the supplier; {@code null} for none
         * @return this builder
         */
        public Builder<T> defaults(@Nullable Supplier<T> defaults) {
            this.defaults = defaults;
            return this;
        }

        /**
         * Sets the function that fills in the fields that an entry left out; by default none is filled in.
         *
         * @param normalize returns the complete configuration
         * @return this builder
         */
        public Builder<T> normalize(UnaryOperator<T> normalize) {
            this.normalize = Objects.requireNonNull(normalize, "normalize");
            return this;
        }

        /**
         * Sets the function that finds the problems of a normalized configuration.
         *
         * <p>It is called for entries that apply to a device, for merged ones, and for defaults; not for entries that
         * are overridden, or that are for no allocated device. By default every decoded entry is valid.
         *
         * @param validate returns a sentence for each problem; none if the configuration is valid
         * @return this builder
         */
        public Builder<T> validate(Function<T, List<String>> validate) {
            this.validate = Objects.requireNonNull(validate, "validate");
            return this;
        }

        /**
         * Restricts the devices that the kind is for.
         *
         * <p>An entry for all requests skips the devices that the kind is not for, so it may have no effect. An entry
         * that names the request of such a device is an error, unless later entries override it. A kind that is for no
         * device is still recognized. The predicate is not called for devices of a pool that is {@linkplain
         * io.dra4j.api.device.Pool#publishedElsewhere published elsewhere}, which are not known here: each kind is for them.
         *
         * @param appliesTo accepts the devices that the kind is for
         * @return this builder
         */
        public Builder<T> appliesTo(Predicate<Device> appliesTo) {
            this.appliesTo = Objects.requireNonNull(appliesTo, "appliesTo");
            return this;
        }

        /**
         * Merges the entries that apply to a device, from the first to the last.
         *
         * <p>Without a merge the last entry wins.
         *
         * @param merge combines an earlier and a later configuration, both normalized; {@code null} for none
         * @return this builder
         */
        public Builder<T> merge(@Nullable BinaryOperator<T> merge) {
            this.merge = merge;
            return this;
        }

        /**
         * Sets which configurations change the device.
         *
         * <p>A device with admin access may be in use by others: an entry of the class or the claim
         * that would change it is an error. By default none changes a device.
         *
         * @param changesDevice accepts the normalized configurations that change a device
         * @return this builder
         */
        public Builder<T> changesDevice(Predicate<T> changesDevice) {
            this.changesDevice = Objects.requireNonNull(changesDevice, "changesDevice");
            return this;
        }

        /**
         * Restricts where entries may come from; an entry from elsewhere is an error.
         *
         * @param sources the sources allowed
         * @return this builder
         */
        public Builder<T> sources(ConfigSource... sources) {
            this.sources = Set.of(Objects.requireNonNull(sources, "sources"));
            return this;
        }

        /**
         * Returns a kind with the values of this builder.
         *
         * @return the kind
         * @throws IllegalArgumentException if the vendor's type is a record with a component that JSON can't be decoded
         *     into, such as an Optional, a time, or a raw List; types and components with Jackson annotations are not
         *     checked
         */
        public ConfigType<T> build() {
            new DecodableTypes().require(type.getSimpleName(), type);
            return new ConfigType<>(this);
        }
    }
}
