// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of a pool: DNS subdomains joined by slashes, unique for the driver in its scope.
 *
 * <p>A driver whose devices belong to one node names its pool after the node.
 *
 * @param value the name, at most 253 characters
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, pool.name</a>
 */
public record PoolName(String value) implements Comparable<PoolName> {

    private static final String LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    private static final String SUBDOMAIN = LABEL + "(\\." + LABEL + ")*";
    private static final Pattern FORM = Pattern.compile(SUBDOMAIN + "(/" + SUBDOMAIN + ")*");

    /**
     * Checks the form of the name.
     *
     * @throws IllegalArgumentException if the name is malformed or too long
     */
    public PoolName {
        Objects.requireNonNull(value, "value");
        if (value.length() > 253 || !FORM.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "Not a pool name: \"" + value + "\"; use DNS subdomains joined by '/', at most 253 characters");
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof PoolName that && value.equals(that.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(PoolName other) {
        return value.compareTo(other.value);
    }

    /** Returns the bare name. */
    @Override
    public String toString() {
        return value;
    }
}
