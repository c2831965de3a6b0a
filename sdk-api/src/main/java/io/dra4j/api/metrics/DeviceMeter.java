// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;

/**
 * Measures the devices of prepared claims, for one scrape of the driver's metrics.
 *
 * <p>The runtime opens a meter when metrics are scraped, and measures one device after the other. A
 * device that takes longer than a second is left out of that scrape: its call is not interrupted,
 * the next device is measured on another thread meanwhile, and the device is not measured again
 * before its call has returned. {@link #close} may come while such a call still runs.
 */
@FunctionalInterface
public interface DeviceMeter extends AutoCloseable {

    /** Measures nothing: claims and their devices are served all the same. */
    DeviceMeter NONE = (claim, device) -> DeviceReadings.NONE;

    /**
     * Measures a device now.
     *
     * <p>What the hardware can't measure is left out, and never 0.
     *
     * @param claim the prepared claim, with its last recorded or answered state
     * @param device one of the claim's devices; other claims may hold it, too
     * @return what was measured
     * @throws Exception if the device can't be measured now; the failure is counted
     */
    DeviceReadings measure(HeldClaim claim, HeldDevice device) throws Exception;

    /** Ends the scrape: what was opened for it is released, also while hardware is given back. */
    @Override
    default void close() {}
}
