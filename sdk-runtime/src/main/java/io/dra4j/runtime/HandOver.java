// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.driver.StoppedDriver;
import java.nio.file.Path;
import java.util.List;

/**
 * The claims of a driver that is stopped, to be handed over to another driver of its name.
 *
 * <p>A program writes the other driver's record between {@link #claims} and {@link #finish}. After
 * a crash in between it is done again; a driver that is started instead goes on with its journal.
 */
public final class HandOver implements AutoCloseable {

    private final StoppedDriver driver;

    private HandOver(StoppedDriver driver) {
        this.driver = driver;
    }

    /**
     * Begins to hand over.
     *
     * @param options the options with which the driver ran
     * @return its claims
     * @throws io.dra4j.api.error.DraException if the driver runs, its journal is damaged, or a
     *     claim is not simply prepared; the message has the next step
     */
    public static HandOver begin(DriverOptions options) {
        return new HandOver(StoppedDriver.open(
                options.driverName(),
                options.nodeName(),
                options.kubeletPluginsDirectory().resolve(options.driverName()),
                options.cdiRoot(),
                options.procRoot()));
    }

    /**
     * Returns the claims that are prepared in this boot.
     *
     * @return the claims; what ended with an earlier boot is left out
     */
    public List<HeldClaim> claims() {
        return driver.claims();
    }

    /**
     * Returns the id of the present boot.
     *
     * @return as Linux has it
     */
    public String bootId() {
        return driver.bootId();
    }

    /**
     * Returns the driver's directory.
     *
     * @return the directory below the kubelet's plugins
     */
    public Path directory() {
        return driver.directory();
    }

    /**
     * Ends it: CDI specs get the file names of drivers in Go, and the journal is put aside.
     *
     * @throws io.dra4j.api.error.DraException if that fails; begin again
     */
    public void finish() {
        driver.handOver();
    }

    @Override
    public void close() {
        driver.close();
    }
}
