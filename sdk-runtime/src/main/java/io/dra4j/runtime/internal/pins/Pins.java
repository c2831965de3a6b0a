// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The physical ids that names of devices were published for.
 *
 * @param ids the ids, by name
 * @param damaged whether the file is damaged: then every name may have meant anything
 */
public record Pins(Map<Name, String> ids, boolean damaged) {

    static final Pins NONE = new Pins(Map.of(), false);
    static final Pins DAMAGED = new Pins(Map.of(), true);
    static final String UNKNOWN = "unknown hardware (devices.pins was damaged)";

    /** Copies the map. */
    public Pins {
        ids = Collections.unmodifiableMap(new TreeMap<>(ids));
    }

    static Pins of(Map<Name, String> ids) {
        return new Pins(ids, false);
    }

    /** Returns the physical id that a device's name was published for; empty if it had none. */
    public Optional<String> id(PoolName pool, DeviceName device) {
        return damaged ? Optional.of(UNKNOWN) : Optional.ofNullable(ids.get(new Name(pool, device)));
    }

    /** A device by pool and name. */
    public record Name(PoolName pool, DeviceName device) implements Comparable<Name> {

        private static final Comparator<Name> ORDER = Comparator.comparing(Name::pool)
                .thenComparing(name -> name.device().value());

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof Name that && pool.equals(that.pool) && device.equals(that.device);
        }

        @Override
        public int hashCode() {
            return 31 * pool.hashCode() + device.hashCode();
        }

        @Override
        public int compareTo(Name other) {
            return ORDER.compare(this, other);
        }

        /** Returns {@code pool/device}, the form used in messages. */
        @Override
        public String toString() {
            return pool + "/" + device;
        }
    }
}
