// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** A device of the driver, by pool and name. */
public record PooledDevice(PoolName pool, DeviceName device) implements Comparable<PooledDevice> {

    private static final Comparator<PooledDevice> ORDER =
            Comparator.comparing(PooledDevice::pool).thenComparing(PooledDevice::device);

    public static PooledDevice of(HeldDevice held) {
        return new PooledDevice(held.pool(), held.device());
    }

    @Override
    public int compareTo(PooledDevice other) {
        return ORDER.compare(this, other);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof PooledDevice that && pool.equals(that.pool) && device.equals(that.device);
    }

    @Override
    public int hashCode() {
        return 31 * pool.hashCode() + device.hashCode();
    }

    /** Returns {@code pool/device}, the form used in messages. */
    @Override
    public String toString() {
        return pool + "/" + device;
    }
}
