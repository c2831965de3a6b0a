// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

/** A driver as {@link DriverMain} sees it: the seam at which tests put another one. */
interface DriverRun extends AutoCloseable {

    /** Starts; throws what keeps it from starting. */
    void start();

    @Override
    void close();

    /** Sees a real driver so. */
    static DriverRun of(DraDriver driver) {
        return new DriverRun() {
            @Override
            public void start() {
                driver.start();
            }

            @Override
            public void close() {
                driver.close();
            }
        };
    }
}
