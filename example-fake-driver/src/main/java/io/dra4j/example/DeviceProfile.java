// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

/** The hardware that the fake driver simulates, by its name on the command line. */
enum DeviceProfile {
    gpu,
    cpu,
    net;

    /** Returns the driver's default name. */
    String driverName() {
        return name() + ".example.com";
    }
}
