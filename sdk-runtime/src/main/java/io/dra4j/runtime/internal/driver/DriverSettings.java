// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.Names;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.kubelet.PluginSockets;
import io.dra4j.runtime.takeover.TakeOver;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The settings of a driver, with the defaults of a kubelet plugin; the builder sets them, the driver reads them. */
public final class DriverSettings {

    public static final int LAST_PORT = 65535;
    public static final String CDI_ROOT = "/var/run/cdi";
    public static final String PLUGINS_DIRECTORY = "/var/lib/kubelet/plugins";
    public static final String REGISTRAR_DIRECTORY = "/var/lib/kubelet/plugins_registry";
    public static final String PROC_ROOT = "/proc";

    private static final Pattern POD_UID = Pattern.compile("(?=.{1,63}$)[A-Za-z0-9]+(-[A-Za-z0-9]+)*");

    public final String driverName;
    public final String nodeName;
    public Path cdiRoot = Path.of(CDI_ROOT);
    public Path pluginsDirectory = Path.of(PLUGINS_DIRECTORY);
    public Path registrarDirectory = Path.of(REGISTRAR_DIRECTORY);
    public Path procRoot = Path.of(PROC_ROOT);
    public InstantSource clock = Clock.systemUTC();
    public Consumer<DraException> onRecoverable = problem -> {};
    public Consumer<DraException> onFatal = problem -> {};
    public String metricsPath = HttpSettings.METRICS_PATH;
    public boolean removesSlicesOnClose;

    /** The endpoint of metrics and probes; {@code null} for none. */
    public @Nullable String httpEndpoint;

    /** The kubeconfig file; {@code null} for the configuration inside a pod. */
    public @Nullable Path kubeconfig;

    /** {@code null} unless two instances may run side by side. */
    public @Nullable String podUid;

    /** True to let the provider work on one claim at a time. */
    public boolean serialized;

    /** {@code null} to taint no device for its health. */
    public Taint.@Nullable Effect unhealthyTaint;

    /** {@code null} if no device has binding conditions. */
    public @Nullable ReadinessCheck readinessCheck;

    /** True if a device may ever have taints, counters or lists. */
    public boolean mayTaint = true;

    public boolean healthService;

    /** Negative for none. */
    public int healthcheckPort = -1;

    /** {@code null} unless a file changes what is published. */
    public @Nullable Path devicePolicy;

    public boolean watchesLegacyPlugin;

    /** True to publish no device while there is one. */
    public boolean withholdsBesideLegacyPlugin;

    /** The versions of device metadata's format, newest first. */
    public List<String> metadataVersions = List.of();

    /** The previous driver of this name; {@code null} to leave its claims untouched. */
    public @Nullable TakeOver takeOver;

    public DriverSettings(String driverName, String nodeName) {
        this.driverName = driverName;
        this.nodeName = nodeName;
    }

    /** Throws the reason why these settings are invalid. */
    public void check() {
        requireDriverName(driverName);
        if (!Names.dnsSubdomainProblems(nodeName).isEmpty()) {
            throw new DraException("Not a node name: \"" + nodeName + "\"; use the name of the Node object");
        }
        if (healthcheckPort > LAST_PORT) {
            throw new DraException("Not a TCP port: " + healthcheckPort + "; use one up to " + LAST_PORT);
        }
        if (podUid != null && !POD_UID.matcher(podUid).matches()) {
            throw new DraException(
                    ("Not the UID of a pod: \"%s\"; use metadata.uid of the driver's own pod, by the downward API")
                            .formatted(podUid));
        }
        if (unhealthyTaint != null && !healthService) {
            throw new DraException(
                    "Unhealthy devices can't be tainted, because this driver reports no health: leave out"
                            + " --unhealthy-taint (taintUnhealthy), or call healthService() on its DraDriver.Builder");
        }
        http();
    }

    /** Returns where metrics and probes are served; {@code null} for nowhere. */
    @Nullable
    HttpSettings http() {
        return httpEndpoint == null ? null : HttpSettings.of(httpEndpoint, metricsPath);
    }

    public static void requireDriverName(String driverName) {
        if (driverName.length() > Names.DRIVER_LENGTH
                || !Names.dnsSubdomainProblems(driverName).isEmpty()) {
            throw new DraException(("Not a driver name: \"%s\"; use a lower-case DNS subdomain of at most "
                            + "63 characters, such as gpu.example.com")
                    .formatted(driverName));
        }
    }

    /** Returns the directory of the driver's service socket and its journal. */
    Path dataDirectory() {
        return data().path();
    }

    DataDirectory data() {
        return new DataDirectory(pluginsDirectory.resolve(driverName));
    }

    PluginSockets sockets() {
        return new PluginSockets(driverName, registrarDirectory, dataDirectory(), podUid);
    }
}
