// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.conformance.settings.Settings.ApiServerSettings;
import io.dra4j.rules.FeatureGates;
import io.dra4j.testkit.driver.ProcessSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The settings of a play: its drivers and manifests.
 *
 * @param drivers the drivers of the node, one or more
 * @param nodeName the node that the manifests name
 * @param manifests the folder of YAML manifests, applied in the order of their names
 * @param stepTimeout the timeout of each step of a driver
 * @param gates the release of the API server, and its gates
 */
public record PlaySettings(
        List<Driver> drivers, String nodeName, Path manifests, Duration stepTimeout, FeatureGates gates) {

    /** Settings of a play on the default release. */
    public PlaySettings(List<Driver> drivers, String nodeName, Path manifests, Duration stepTimeout) {
        this(drivers, nodeName, manifests, stepTimeout, ApiServerSettings.EMBEDDED.gates());
    }

    public PlaySettings {
        drivers = List.copyOf(drivers);
    }

    List<String> driverNames() {
        return drivers.stream().map(Driver::name).toList();
    }

    /** A driver to play with: its name, its command line, and what its processes find. */
    public record Driver(String name, ProcessSettings process) {

        /** A driver that needs nothing but its environment. */
        public Driver(String name, List<String> command) {
            this(name, ProcessSettings.of(command, Map.of()));
        }
    }
}
