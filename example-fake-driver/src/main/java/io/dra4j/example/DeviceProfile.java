// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

/** Which hardware the fake driver invents, in the words of the command line. */
enum DeviceProfile {
    gpu,
    cpu,
    net;

    /** Returns the driver's name where none is given. */
    String driverName() {
        return name() + ".example.com";
    }
}
