// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import io.dra4j.testkit.settings.SettingsException;

/**
 * The directories of a driver that is run externally.
 *
 * @param node its node's name
 * @param registry the directory of registration sockets
 * @param plugins the kubelet's plugins directory
 * @param cdi the directory of CDI specs
 * @param proxyPort the port at which the driver finds the API server's proxy; 0 if it does not use it
 * @param log a file with the driver's output, if any
 */
public record ExternalSettings(String node, String registry, String plugins, String cdi, int proxyPort, String log) {

    public ExternalSettings {
        if (node == null || registry == null || cdi == null) {
            throw new SettingsException("driver.external needs node, registry and cdi: where the driver runs");
        }
        plugins = plugins == null ? "/var/lib/kubelet/plugins" : plugins;
        log = log == null ? "" : log;
    }
}
