// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.Names;
import io.dra4j.runtime.internal.claim.Adoption.Predecessor;
import io.dra4j.runtime.internal.kubelet.PluginSockets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a driver.
 *
 * @param kubeconfig {@code null} for the configuration inside a pod
 * @param podUid {@code null} unless two instances may run side by side
 * @param serialized true to let the provider work on one claim at a time
 * @param unhealthyTaint {@code null} to taint no device for its health
 * @param http {@code null} unless metrics and probes are served
 * @param readinessCheck {@code null} if no device has binding conditions
 * @param mayTaint whether a device may ever have taints, counters or lists
 * @param healthService whether the kubelet is offered the health of devices
 * @param healthcheckPort negative for none
 * @param devicePolicy {@code null} unless a file changes what is published
 * @param watchesLegacyPlugin whether a device plugin for the same devices is looked for
 * @param withholdsBesideLegacyPlugin whether no device is published beside one
 * @param metadataVersions the versions of device metadata's format, newest first
 * @param predecessor the driver of this name before this one; {@code null} to leave its claims
 *     alone
 */
public record DriverSettings(
        String driverName,
        String nodeName,
        @Nullable Path kubeconfig,
        Path cdiRoot,
        Path pluginsDirectory,
        Path registrarDirectory,
        Path procRoot,
        @Nullable String podUid,
        InstantSource clock,
        Consumer<DraException> onRecoverable,
        Consumer<DraException> onFatal,
        boolean serialized,
        boolean removesSlicesOnClose,
        Taint.@Nullable Effect unhealthyTaint,
        @Nullable HttpSettings http,
        @Nullable ReadinessCheck readinessCheck,
        boolean mayTaint,
        boolean healthService,
        int healthcheckPort,
        @Nullable Path devicePolicy,
        boolean watchesLegacyPlugin,
        boolean withholdsBesideLegacyPlugin,
        List<String> metadataVersions,
        @Nullable Predecessor predecessor) {

    private static final int LAST_PORT = 65535;
    private static final Pattern POD_UID = Pattern.compile("(?=.{1,63}$)[A-Za-z0-9]+(-[A-Za-z0-9]+)*");

    public DriverSettings {
        metadataVersions = List.copyOf(metadataVersions);
        requireDriverName(driverName);
        if (!Names.dnsSubdomainProblems(nodeName).isEmpty()) {
            throw new DraException("Not a node name: \"" + nodeName + "\"; use the name of the Node object");
        }
        if (healthcheckPort > LAST_PORT) {
            throw new DraException("Not a TCP port: " + healthcheckPort + "; use one up to " + LAST_PORT);
        }
        if (podUid != null && !POD_UID.matcher(podUid).matches()) {
            throw new DraException(
                    ("Not the UID of a pod: \"%s\"; use metadata.uid of the driver's own " + "pod, by the downward API")
                            .formatted(podUid));
        }
    }

    static void requireDriverName(String driverName) {
        if (driverName.length() > Names.DRIVER_LENGTH
                || !Names.dnsSubdomainProblems(driverName).isEmpty()) {
            throw new DraException(("Not a driver name: \"%s\"; use a lower-case DNS subdomain of at most "
                            + "63 characters, such as gpu.example.com")
                    .formatted(driverName));
        }
    }

    /** Returns the directory of the driver's service socket and its journal. */
    Path dataDirectory() {
        return pluginsDirectory.resolve(driverName);
    }

    PluginSockets sockets() {
        return new PluginSockets(driverName, registrarDirectory, dataDirectory(), podUid);
    }
}
