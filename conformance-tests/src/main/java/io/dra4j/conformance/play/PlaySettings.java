// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What to play, and with which drivers.
 *
 * @param drivers the drivers of the node, one or more
 * @param nodeName the node that the manifests speak of
 * @param manifests the folder of YAML manifests, applied in the order of their names
 * @param patience how long to wait for anything a driver is to do
 */
public record PlaySettings(
        List<Driver> drivers, String nodeName, Path manifests, Duration patience) {

    public PlaySettings {
        drivers = List.copyOf(drivers);
    }

    List<String> driverNames() {
        return drivers.stream().map(Driver::name).toList();
    }

    /**
     * A driver to play with.
     *
     * @param name the driver's name
     * @param command the driver's command line; {@link DriverProcess} says what it is told and how
     */
    public record Driver(String name, List<String> command) {

        public Driver {
            command = List.copyOf(command);
        }
    }
}
