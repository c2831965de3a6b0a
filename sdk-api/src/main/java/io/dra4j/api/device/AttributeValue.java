// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The value of a device's attribute, of one of the types that CEL selectors support.
 *
 * <p>The limits of the API (64 bytes for text, 48 values for all lists of a device) are checked when the inventory is
 * published, with an error that names pool, device and attribute, so that a value that is too long does not keep the
 * other pools from being published.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, devices[].attributes</a>
 */
public sealed interface AttributeValue {

    /**
     * A string of at most 64 bytes.
     *
     * @param value the value
     */
    record OfString(String value) implements AttributeValue {

        /** Checks that nothing is missing. */
        public OfString {
            Objects.requireNonNull(value, "value");
        }

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof OfString that && value.equals(that.value);
        }

        @Override
        public int hashCode() {
            return value.hashCode();
        }
    }

    /**
     * A whole number.
     *
     * @param value the value
     */
    record OfInt(long value) implements AttributeValue {

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof OfInt that && value == that.value;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(value);
        }
    }

    /**
     * True or false.
     *
     * @param value the value
     */
    record OfBool(boolean value) implements AttributeValue {}

    /**
     * A semantic version (2.0.0) of at most 64 bytes, such as {@code 1.0.0}.
     *
     * @param value the value
     */
    record OfVersion(String value) implements AttributeValue {

        /** Checks that nothing is missing. */
        public OfVersion {
            Objects.requireNonNull(value, "value");
        }

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof OfVersion that && value.equals(that.value);
        }

        @Override
        public int hashCode() {
            return value.hashCode();
        }
    }

    /**
     * A list of strings; list attributes are an alpha feature of Kubernetes 1.36.
     *
     * @param values the values, at least one
     */
    record OfStrings(List<String> values) implements AttributeValue {

        /** Copies the list. */
        public OfStrings {
            values = List.copyOf(Objects.requireNonNull(values, "values"));
        }
    }

    /**
     * A list of whole numbers; list attributes are an alpha feature of Kubernetes 1.36.
     *
     * @param values the values, at least one
     */
    record OfInts(List<Long> values) implements AttributeValue {

        /** Copies the list. */
        public OfInts {
            values = List.copyOf(Objects.requireNonNull(values, "values"));
        }
    }

    /**
     * A list of booleans; list attributes are an alpha feature of Kubernetes 1.36.
     *
     * @param values the values, at least one
     */
    record OfBools(List<Boolean> values) implements AttributeValue {

        /** Copies the list. */
        public OfBools {
            values = List.copyOf(Objects.requireNonNull(values, "values"));
        }
    }

    /**
     * A list of semantic versions; list attributes are an alpha feature of Kubernetes 1.36.
     *
     * @param values the values, at least one
     */
    record OfVersions(List<String> values) implements AttributeValue {

        /** Copies the list. */
        public OfVersions {
            values = List.copyOf(Objects.requireNonNull(values, "values"));
        }
    }

    /**
     * Returns the value as an attribute.
     *
     * @param value a string of at most 64 bytes
     * @return the attribute's value
     */
    static AttributeValue of(String value) {
        return new OfString(value);
    }

    /**
     * Returns the value as an attribute.
     *
     * @param value a whole number
     * @return the attribute's value
     */
    static AttributeValue of(long value) {
        return new OfInt(value);
    }

    /**
     * Returns the value as an attribute.
     *
     * @param value true or false
     * @return the attribute's value
     */
    static AttributeValue of(boolean value) {
        return new OfBool(value);
    }

    /**
     * Returns the value as an attribute.
     *
     * @param value a semantic version (2.0.0) of at most 64 bytes, such as {@code 1.0.0}
     * @return the attribute's value
     */
    static AttributeValue version(String value) {
        return new OfVersion(value);
    }

    /**
     * Returns a vendor's version string as a semantic version.
     *
     * <p>Use it for an attribute that is better left out than wrong. A semantic version of at most 64 bytes stays as it
     * is. In any other text
     *
     * <ul>
     *   <li>surrounding spaces and a leading {@code v} are dropped;
     *   <li>up to three numbers at its start, of at most 18 digits, are the version, without leading zeros, and with 0
     *       for missing ones: {@code 550.163.01} is {@code 550.163.1}, {@code v12.4} is {@code 12.4.0};
     *   <li>a pre-release and build metadata, in the form of semantic versions, stay: {@code
     *       1.02-rc.1+b7} is {@code 1.2.0-rc.1+b7};
     *   <li>everything else, including further numbers, becomes build metadata, which comparisons ignore, truncated to
     *       64 bytes in total: {@code 6.19.14.31400000} is {@code 6.19.14+31400000}, {@code 1.2.3rc1 (beta)} is {@code
     *       1.2.3+rc1.beta}.
     * </ul>
     *
     * @param text a version as the vendor writes it
     * @return the attribute's value; empty if the text does not begin with such a number
     */
    static Optional<AttributeValue> lenientVersion(String text) {
        return LenientVersion.of(Objects.requireNonNull(text, "text")).map(OfVersion::new);
    }
}
