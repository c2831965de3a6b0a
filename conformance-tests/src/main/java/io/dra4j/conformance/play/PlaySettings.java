// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What to play, and with which driver.
 *
 * @param driverName the driver's name
 * @param nodeName the node that the manifests speak of
 * @param manifests the folder of YAML manifests, applied in the order of their names
 * @param command the driver's command line; {@link DriverProcess} says what it is told and how
 * @param patience how long to wait for anything the driver is to do
 */
public record PlaySettings(
        String driverName,
        String nodeName,
        Path manifests,
        List<String> command,
        Duration patience) {

    public PlaySettings {
        command = List.copyOf(command);
    }
}
