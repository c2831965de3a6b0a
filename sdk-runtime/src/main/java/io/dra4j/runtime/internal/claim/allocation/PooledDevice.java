// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;

/** A device of the driver, by pool and name. */
record PooledDevice(PoolName pool, DeviceName device) {

    static PooledDevice of(HeldDevice held) {
        return new PooledDevice(held.pool(), held.device());
    }

    /** Returns {@code pool/device}, the form used in messages. */
    @Override
    public String toString() {
        return pool + "/" + device;
    }
}
