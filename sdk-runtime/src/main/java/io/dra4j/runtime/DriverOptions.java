// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.FeatureGate;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.driver.HttpSettings;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command line that all driver programs share; a program may extend it with its own options. */
@Command(
        footer = {
            "",
            ProgramOptions.VARIABLES,
            "`journal inspect FILE` prints a claim journal, for support.",
            "`explain pod/NAME` and `tree` are the commands of `kubectl dra`; they need kubectl-dra.jar next to this jar.",
            "`maintenance on`, `off` or `status` takes the devices of this node out of use;"
                    + " `maintenance --help` explains it.",
            "`audit`, followed by the driver's options, cross-checks the node's claim records; `audit --help` explains it.",
            "`webhook`, followed by options, checks claims when they are created; `webhook --help` explains it.",
            "`claim-metrics` serves metrics of how long the cluster's claims wait; `claim-metrics --help` explains it.",
            "`doctor`, followed by the driver's options, finds what is wrong with this node; `doctor --help` explains it."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public abstract class DriverOptions extends ProgramOptions {

    @Option(
            names = "--node-name",
            paramLabel = "NAME",
            required = true,
            description = "The node that this driver runs on. Required. [NODE_NAME]")
    private String nodeName;

    @Option(
            names = "--cdi-root",
            paramLabel = "DIR",
            defaultValue = DriverSettings.CDI_ROOT,
            description = "Where the container runtime reads CDI specs. [CDI_ROOT]" + DEFAULT)
    private Path cdiRoot;

    @Option(
            names = "--kubelet-plugins-directory-path",
            paramLabel = "DIR",
            defaultValue = DriverSettings.PLUGINS_DIRECTORY,
            description =
                    "Where the kubelet expects the data of its plugins. [KUBELET_PLUGINS_DIRECTORY_PATH]" + DEFAULT)
    private Path kubeletPluginsDirectory;

    @Option(
            names = "--kubelet-registrar-directory-path",
            paramLabel = "DIR",
            defaultValue = DriverSettings.REGISTRAR_DIRECTORY,
            description = "Where the kubelet looks for new plugins. [KUBELET_REGISTRAR_DIRECTORY_PATH]" + DEFAULT)
    private Path kubeletRegistrarDirectory;

    @Option(
            names = "--proc-root",
            paramLabel = "DIR",
            defaultValue = DriverSettings.PROC_ROOT,
            description = "Where the host's /proc is mounted: its boot id identifies the boot of the node. [PROC_ROOT]"
                    + DEFAULT)
    private Path procRoot;

    @Option(
            names = "--pod-uid",
            paramLabel = "UID",
            description = "The UID of the driver's own pod; it lets a new pod of the driver take over"
                    + " while the old one still runs. [POD_UID]")
    private @Nullable String podUid;

    @Option(
            names = "--healthcheck-port",
            paramLabel = "PORT",
            defaultValue = "-1",
            description = "Where to answer gRPC probes: a TCP port, 0 for any, negative for none. [HEALTHCHECK_PORT]"
                    + DEFAULT)
    private int healthcheckPort;

    @Option(
            names = "--unhealthy-taint",
            paramLabel = "EFFECT",
            defaultValue = "off",
            description = "How to taint devices that do not work: None, NoSchedule, NoExecute or off. [UNHEALTHY_TAINT]"
                    + DEFAULT)
    private UnhealthyTaint unhealthyTaint;

    @Option(
            names = "--device-policy",
            paramLabel = "FILE",
            description = {
                "A file with rules that exclude devices, or add attributes and taints to them;"
                        + " reloaded when it changes. [DEVICE_POLICY]",
                "Default: all devices unchanged"
            })
    private @Nullable Path devicePolicy;

    @Option(
            names = "--http-endpoint",
            paramLabel = "HOST:PORT",
            description = {
                "Where to serve metrics and the probes /healthz and /readyz, for instance :8080. [HTTP_ENDPOINT]",
                "Default: nowhere"
            })
    private @Nullable String httpEndpoint;

    @Option(
            names = "--metrics-port",
            paramLabel = "PORT",
            defaultValue = "-1",
            description = "The port of --http-endpoint, on all addresses; an option of the community's example driver."
                    + " 0 for any free port, negative for none. [METRICS_PORT]"
                    + DEFAULT)
    private int metricsPort;

    @Option(
            names = "--metrics-path",
            paramLabel = "PATH",
            defaultValue = HttpSettings.METRICS_PATH,
            description = "The path of the metrics. [METRICS_PATH]" + DEFAULT)
    private String metricsPath;

    /** Creates options that are yet to be read from a command line. */
    protected DriverOptions() {}

    /** The taint of unhealthy devices, in the API's terms. */
    enum UnhealthyTaint {
        /** Nothing. */
        off(null),
        None(Taint.Effect.NONE),
        NoSchedule(Taint.Effect.NO_SCHEDULE),
        NoExecute(Taint.Effect.NO_EXECUTE);

        private final Taint.@Nullable Effect effect;

        UnhealthyTaint(Taint.@Nullable Effect effect) {
            this.effect = effect;
        }

        static UnhealthyTaint of(Taint.@Nullable Effect effect) {
            return Stream.of(values())
                    .filter(one -> one.effect == effect)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /**
     * Returns the node that the driver runs on.
     *
     * @return the node's name
     */
    public final String nodeName() {
        return nodeName;
    }

    /**
     * Returns where the container runtime reads CDI specs.
     *
     * @return the directory
     */
    public final Path cdiRoot() {
        return cdiRoot;
    }

    /**
     * Returns where the kubelet expects the data of its plugins.
     *
     * @return the directory, in which the driver creates its own
     */
    public final Path kubeletPluginsDirectory() {
        return kubeletPluginsDirectory;
    }

    final Path kubeletRegistrarDirectory() {
        return kubeletRegistrarDirectory;
    }

    /**
     * Returns where the host's proc file system is mounted.
     *
     * @return the directory
     */
    public final Path procRoot() {
        return procRoot;
    }

    final Optional<String> podUid() {
        return Optional.ofNullable(podUid).filter(uid -> !uid.isEmpty());
    }

    /**
     * Returns the effect of the taint of devices that are reported as unhealthy.
     *
     * @return the one given, or else the program's default; empty if nothing is tainted, as for {@code off}
     */
    public final Optional<Taint.Effect> unhealthyTaint() {
        return Optional.ofNullable(unhealthyTaint.effect);
    }

    /**
     * Returns the effect of that taint where the command line and the environment give none.
     *
     * @return the program's default; empty, which taints nothing, unless the program overrides this
     */
    protected Optional<Taint.Effect> defaultUnhealthyTaint() {
        return Optional.empty();
    }

    @Override
    final @Nullable String ofProgram(String option) {
        return option.equals("--unhealthy-taint")
                ? UnhealthyTaint.of(defaultUnhealthyTaint().orElse(null)).name()
                : null;
    }

    final Optional<Path> devicePolicy() {
        return Optional.ofNullable(devicePolicy).filter(file -> !file.toString().isEmpty());
    }

    final String metricsPath() {
        return metricsPath;
    }

    final Optional<String> httpEndpoint() {
        return Optional.ofNullable(httpEndpoint)
                .filter(endpoint -> !endpoint.isEmpty())
                .or(() -> Optional.of(":" + metricsPort).filter(any -> metricsPort >= 0));
    }

    /**
     * Returns the program's own options that determine which configurations are accepted.
     *
     * <p>The help of the command {@code webhook} shows them, and hides the program's others unless they are required.
     * The webhook takes all options of the driver, so that both may have the same environment.
     *
     * @return the long names, such as {@code --feature-gates}; none by default
     */
    protected Set<String> ofConfigurations() {
        return Set.of();
    }

    /**
     * Returns the feature gates of Kubernetes that the given options need, by option.
     *
     * <p>The command {@code doctor} asks the API server whether they are on, and those that devices of the inventory
     * need. A program adds gates that its current devices do not reveal, such as the gate for devices that an option
     * adds.
     *
     * @return the gate's name by the option's, such as {@code --unhealthy-taint=DRADeviceTaints}
     */
    protected Map<String, String> neededGates() {
        return unhealthyTaint().isEmpty()
                ? Map.of()
                : Map.of("--unhealthy-taint", FeatureGate.DRA_DEVICE_TAINTS.text());
    }

    /** Returns a driver with these options, which is yet to be built. */
    final DraDriver.Builder builder(DeviceProvider provider) {
        return DraDriver.builder(driverName(), nodeName, provider)
                .kubeconfig(kubeconfig().orElse(null))
                .cdiRoot(cdiRoot)
                .kubeletPluginsDirectory(kubeletPluginsDirectory)
                .kubeletRegistrarDirectory(kubeletRegistrarDirectory)
                .procRoot(procRoot)
                .podUid(podUid().orElse(null))
                .healthcheckPort(healthcheckPort)
                .taintUnhealthy(unhealthyTaint().orElse(null))
                .devicePolicy(devicePolicy().orElse(null))
                .httpEndpoint(httpEndpoint().orElse(null))
                .metricsPath(metricsPath);
    }

    @Override
    final void check(CommandLine command) {
        if (metricsPort > DriverSettings.LAST_PORT) {
            throw new ParameterException(
                    command,
                    "Invalid value for option '--metrics-port': %d is more than %d"
                            .formatted(metricsPort, DriverSettings.LAST_PORT));
        }
        String endpoint = httpEndpoint == null ? "" : httpEndpoint;
        if (metricsPort >= 0 && !endpoint.isEmpty() && !endpoint.endsWith(":" + metricsPort)) {
            throw new ParameterException(
                    command,
                    "--http-endpoint is %s, and --metrics-port is %d: both configure the same server; give only one"
                            .formatted(endpoint, metricsPort));
        }
    }

    /** The options that every driver has. */
    static final class Standard extends DriverOptions {}
}
