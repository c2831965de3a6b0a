// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.error.DraException;

/**
 * Is notified of the background problems of a running {@link DraDriver}.
 *
 * <p>All of them are also logged. The methods are called one at a time on a separate thread, so they may take
 * their time; what they throw is logged. A persistent problem is reported once, and again after half an hour.
 */
public interface DriverListener {

    /**
     * Is notified of a problem that the driver keeps trying to solve: an invalid pool, devices that the API server
     * can't protect, slices that another client keeps deleting, an API server that can't be reached.
     *
     * @param problem what failed, on which object, and what to do
     */
    default void recoverable(DraException problem) {}

    /**
     * Is notified of a problem that the driver can't solve: the host should close the driver and exit.
     *
     * <p>Prepared claims stay prepared, and the kubelet's calls are still answered.
     *
     * @param problem what failed, on which object, and what to do
     */
    default void fatal(DraException problem) {}
}
