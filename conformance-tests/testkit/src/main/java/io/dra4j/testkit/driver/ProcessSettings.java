// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import io.dra4j.testkit.settings.SettingsException;
import java.util.List;
import java.util.Map;

/**
 * The command of a driver and its surroundings; in each word, {@code {NAME}} stands for a value of the place.
 *
 * @param command the program and its arguments
 * @param environment what it finds in its environment in addition to the usual names
 * @param standardPaths whether it finds the directories of the run at the standard paths of a node, because it has no
 *     option for others
 * @param inCluster whether it finds the API server as in a container of a cluster, and no kubeconfig
 * @param makeDirectories directories that exist before each start, as its DaemonSet makes them
 * @param serial whether one instance runs at a time, because two would be in conflict
 */
public record ProcessSettings(
        List<String> command,
        Map<String, String> environment,
        boolean standardPaths,
        boolean inCluster,
        List<String> makeDirectories,
        boolean serial) {

    public ProcessSettings {
        if (command == null || command.isEmpty()) {
            throw new SettingsException("driver.process.command is missing: how to run the driver");
        }
        command = List.copyOf(command);
        environment = environment == null ? Map.of() : Map.copyOf(environment);
        makeDirectories = makeDirectories == null ? List.of() : List.copyOf(makeDirectories);
    }

    /** A command of which several instances run at the same time, each at its place. */
    public ProcessSettings(
            List<String> command,
            Map<String, String> environment,
            boolean standardPaths,
            boolean inCluster,
            List<String> makeDirectories) {
        this(command, environment, standardPaths, inCluster, makeDirectories, false);
    }

    ProcessSettings atStandardPaths() {
        return new ProcessSettings(command, environment, true, inCluster, makeDirectories, serial);
    }

    /** A command that only needs its environment. */
    public static ProcessSettings of(List<String> command, Map<String, String> environment) {
        return new ProcessSettings(command, environment, false, false, List.of());
    }
}
