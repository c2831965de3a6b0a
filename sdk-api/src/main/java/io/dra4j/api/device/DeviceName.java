// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of a device: a DNS label, unique in its pool.
 *
 * @param value the name, at most 63 characters
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, devices[].name</a>
 */
public record DeviceName(String value) implements Comparable<DeviceName> {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    /**
     * Checks the form of the name.
     *
     * @throws IllegalArgumentException if the name is not a DNS label
     */
    public DeviceName {
        Objects.requireNonNull(value, "value");
        if (!DNS_LABEL.matcher(value).matches()) {
            throw new IllegalArgumentException("Not a device name: \""
                    + value
                    + "\"; use at most 63 of a-z, 0-9 and '-', with a letter or digit at"
                    + " both ends");
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof DeviceName that && value.equals(that.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(DeviceName other) {
        return value.compareTo(other.value);
    }

    /** Returns the bare name. */
    @Override
    public String toString() {
        return value;
    }
}
