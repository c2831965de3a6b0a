// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A driver's report about an allocated device in the claim's status.
 *
 * <p>It may be built with any values. When it is reported, the runtime checks them against the rules of the API server,
 * and canonicalizes them where that loses nothing: IPv6 addresses are written as in RFC 5952, IPv4-mapped IPv6
 * addresses as IPv4, and duplicate addresses and conditions are sent once. Hardware addresses are sent as they are.
 *
 * <p>Parts that break a rule are left out, and the others are sent. The parts are each condition, the {@linkplain
 * #data() data}, and the {@linkplain #networkData() network data} as a whole: one wrong address drops all of it,
 * because an incomplete list of a device's addresses would look complete. Different conditions of one type are all left
 * out, and so are all conditions if there are more than 8. A part that is left out is removed from the claim's status
 * if an earlier report had it.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4817-resource-claim-device-status">
 *     KEP-4817</a>
 */
public final class DeviceStatus {

    private final Values values;

    private DeviceStatus(Builder builder) {
        values = new Values(builder.conditions, builder.data, builder.networkData);
    }

    /**
     * Returns a builder for an empty report.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a report with only conditions.
     *
     * @param conditions conditions with unique types, at most 8
     * @return the report
     */
    public static DeviceStatus of(Condition... conditions) {
        return builder()
                .conditions(Arrays.asList(Objects.requireNonNull(conditions, "conditions")))
                .build();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.conditions.addAll(values.conditions);
        builder.data = values.data;
        builder.networkData = values.networkData;
        return builder;
    }

    /** {@return conditions with unique types, at most 8} */
    public List<Condition> conditions() {
        return values.conditions;
    }

    /** {@return a JSON object as text, at most 10 KiB; {@code null} for none} */
    public @Nullable String data() {
        return values.data;
    }

    /** {@return the interface and addresses of a network device; {@code null} for other devices} */
    public @Nullable NetworkData networkData() {
        return values.networkData;
    }

    /**
     * One aspect of the device's state; the runtime keeps the time of its last change.
     *
     * @param type the aspect: a label name, such as {@code Ready}
     * @param status whether it is true
     * @param reason why, as one word in CamelCase
     * @param message why, for people, at most 32 KiB; may be empty
     */
    public record Condition(String type, ConditionStatus status, String reason, String message) {

        /** Checks that nothing is missing. */
        public Condition {
            Objects.requireNonNull(type, "type");
            Objects.requireNonNull(status, "status");
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(message, "message");
        }
    }

    /**
     * The interface and addresses of a network device.
     *
     * @param interfaceName the interface's name in the pod, at most 256 bytes, or {@code null}
     * @param ips its addresses with prefix lengths, such as {@code 10.0.0.5/24}, at most 16; numbers with leading
     *     zeros, such as {@code 010.0.0.5/24}, are refused, since some readers take them for octal
     * @param hardwareAddress its hardware address, at most 128 bytes, or {@code null}
     */
    public record NetworkData(
            @Nullable String interfaceName,
            List<String> ips,
            @Nullable String hardwareAddress) {

        /** Copies the list. */
        public NetworkData {
            ips = List.copyOf(Objects.requireNonNull(ips, "ips"));
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DeviceStatus that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "DeviceStatus");
    }

    private record Values(
            List<Condition> conditions,
            @Nullable String data,
            @Nullable NetworkData networkData) {

        private Values {
            conditions = List.copyOf(conditions);
        }
    }

    /** Builds a {@link DeviceStatus}; not thread-safe. */
    public static final class Builder {
        private List<Condition> conditions = new ArrayList<>();
        private @Nullable String data;
        private @Nullable NetworkData networkData;

        private Builder() {}

        /**
         * Adds a condition.
         *
         * @param condition the condition, with a type that no other one has
         * @return this builder
         */
        public Builder condition(Condition condition) {
            conditions.add(Objects.requireNonNull(
                    condition, () -> "condition: conditions[" + conditions.size() + "] is null"));
            return this;
        }

        /**
         * Replaces all conditions.
         *
         * @param conditions conditions with unique types, at most 8
         * @return this builder
         */
        public Builder conditions(Collection<Condition> conditions) {
            Objects.requireNonNull(conditions, "conditions");
            Builder fresh = new Builder();
            conditions.forEach(fresh::condition);
            this.conditions = fresh.conditions;
            return this;
        }

        /**
         * Sets driver-specific data.
         *
         * @param data a JSON object as text, at most 10 KiB; {@code null} for none
         * @return this builder
         */
        public Builder data(@Nullable String data) {
            this.data = data;
            return this;
        }

        /**
         * Sets the interface and addresses of a network device; {@code null} for other devices.
         *
         * @param networkData the interface and addresses, or {@code null}
         * @return this builder
         */
        public Builder networkData(@Nullable NetworkData networkData) {
            this.networkData = networkData;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public DeviceStatus build() {
            return new DeviceStatus(this);
        }
    }
}
