// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;

/**
 * Measures the devices of prepared claims, for one scrape of the driver's metrics.
 *
 * <p>The runtime opens a meter when metrics are scraped, and measures one device after another. A device that takes
 * longer than a second is left out of that scrape: its call is not interrupted, the next device is measured on another
 * thread in the meantime, and the device is not measured again before its call has returned. {@link #close} may be
 * called while such a call still runs.
 */
@FunctionalInterface
public interface DeviceMeter extends AutoCloseable {

    /** A meter that measures nothing: claims and their devices are still served. */
    DeviceMeter NONE = (claim, device) -> DeviceReadings.NONE;

    /**
     * Measures a device now.
     *
     * <p>A quantity that the hardware can't measure is left out, not reported as 0.
     *
     * @param claim the prepared claim, with the last state that was checkpointed or returned
     * @param device one of the claim's devices; other claims may also hold it
     * @return the measurements
     * @throws Exception if the device can't be measured now; the failure is counted
     */
    DeviceReadings measure(HeldClaim claim, HeldDevice device) throws Exception;

    /** Ends the scrape and releases what was opened for it, even while the hardware is being released. */
    @Override
    default void close() {}
}
