// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.device.Taint;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * The command line that all driver programs share; a program extends it by its own options, or by
 * none.
 *
 * <p>Every long option may also be given as an environment variable of the same name in upper case
 * with underscores ({@code --node-name}, {@code NODE_NAME}), as drivers written in Go have it; the
 * command line outweighs the environment, and an empty value counts as not given. That holds for
 * the options of subclasses, too; they are declared with picocli's annotations. Values are there
 * once {@link DriverMain} has read the command line.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public abstract class DriverOptions {

    private static final Set<String> NOT_IN_THE_ENVIRONMENT = Set.of("--v", "--help", "--version");
    private static final String DEFAULT = "%nDefault: ${DEFAULT-VALUE}";

    @Option(
            names = "--node-name",
            paramLabel = "NAME",
            required = true,
            description = "The node that this driver runs on. Required. [NODE_NAME]")
    private String nodeName;

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            description = "The driver's name, a DNS subdomain. [DRIVER_NAME]" + DEFAULT)
    private String driverName;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = {
                "How to reach the API server. [KUBECONFIG]",
                "Default: as a pod of the cluster"
            })
    private @Nullable Path kubeconfig;

    @Option(
            names = "--cdi-root",
            paramLabel = "DIR",
            defaultValue = "/var/run/cdi",
            description = "Where the container runtime reads CDI specs. [CDI_ROOT]" + DEFAULT)
    private Path cdiRoot;

    @Option(
            names = "--kubelet-plugins-directory-path",
            paramLabel = "DIR",
            defaultValue = "/var/lib/kubelet/plugins",
            description =
                    "Where the kubelet expects the data of its plugins. [KUBELET_PLUGINS_DIRECTORY_PATH]"
                            + DEFAULT)
    private Path kubeletPluginsDirectory;

    @Option(
            names = "--kubelet-registrar-directory-path",
            paramLabel = "DIR",
            defaultValue = "/var/lib/kubelet/plugins_registry",
            description =
                    "Where the kubelet looks for new plugins. [KUBELET_REGISTRAR_DIRECTORY_PATH]"
                            + DEFAULT)
    private Path kubeletRegistrarDirectory;

    @Option(
            names = "--proc-root",
            paramLabel = "DIR",
            defaultValue = "/proc",
            description =
                    "Where the host's /proc is mounted: its boot id identifies the boot of the node."
                            + " [PROC_ROOT]"
                            + DEFAULT)
    private Path procRoot;

    @Option(
            names = "--pod-uid",
            paramLabel = "UID",
            description =
                    "The UID of the driver's own pod; it lets a new pod of the driver take over"
                            + " while the old one still runs. [POD_UID]")
    private @Nullable String podUid;

    @Option(
            names = "--healthcheck-port",
            paramLabel = "PORT",
            defaultValue = "-1",
            description =
                    "Where to answer gRPC probes: a TCP port, 0 for any, negative for none."
                            + " [HEALTHCHECK_PORT]"
                            + DEFAULT)
    private int healthcheckPort;

    @Option(
            names = "--unhealthy-taint",
            paramLabel = "EFFECT",
            defaultValue = "off",
            description =
                    "How to taint devices that do not work: None, NoSchedule, NoExecute or off."
                            + " [UNHEALTHY_TAINT]"
                            + DEFAULT)
    private UnhealthyTaint unhealthyTaint;

    @Option(
            names = "--http-endpoint",
            paramLabel = "HOST:PORT",
            description = {
                "Where to serve metrics and the probes /healthz and /readyz, for instance :8080."
                        + " [HTTP_ENDPOINT]",
                "Default: nowhere"
            })
    private @Nullable String httpEndpoint;

    @Option(
            names = "--metrics-path",
            paramLabel = "PATH",
            defaultValue = "/metrics",
            description = "The path of the metrics. [METRICS_PATH]" + DEFAULT)
    private String metricsPath;

    @Option(
            names = {"-v", "--v"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "How much to log: 0 what changes on the node, 4 what is done in detail, 6 what"
                            + " libraries do, 8 everything."
                            + DEFAULT)
    private int verbosity;

    @Option(
            names = "--logging-format",
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How to log: text or json. [LOGGING_FORMAT]" + DEFAULT)
    private LogFormat loggingFormat;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            arity = "0..1",
            paramLabel = "true|false",
            description = "Show this help and exit.")
    private boolean help;

    @Option(
            names = "--version",
            versionHelp = true,
            arity = "0..1",
            paramLabel = "true|false",
            description = "Show the version and exit.")
    private boolean version;

    /** Creates options that are yet to be read from a command line. */
    protected DriverOptions() {}

    /** The format of log lines. */
    enum LogFormat {
        /** For people: one line each, with the keys and values at its end. */
        text,
        /** For tools: one JSON object each. */
        json
    }

    /** The taint of devices that do not work, in the words of the API. */
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
     * Returns the driver's name.
     *
     * @return the name given, or the program's own
     */
    public final String driverName() {
        return driverName;
    }

    /**
     * Returns how to reach the API server.
     *
     * @return the kubeconfig file; empty for a pod of the cluster
     */
    public final Optional<Path> kubeconfig() {
        return Optional.ofNullable(kubeconfig).filter(file -> !file.toString().isEmpty());
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
     * @return the directory, in which the driver makes one of its own
     */
    public final Path kubeletPluginsDirectory() {
        return kubeletPluginsDirectory;
    }

    /**
     * Returns where the kubelet looks for new plugins.
     *
     * @return the directory
     */
    public final Path kubeletRegistrarDirectory() {
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

    /**
     * Returns the UID of the driver's own pod.
     *
     * @return the UID; empty if the driver is to be the only one of its name on the node
     */
    public final Optional<String> podUid() {
        return Optional.ofNullable(podUid).filter(uid -> !uid.isEmpty());
    }

    /**
     * Returns where to answer gRPC probes.
     *
     * @return the port; 0 for any that is free, negative for none
     */
    public final int healthcheckPort() {
        return healthcheckPort;
    }

    /**
     * Returns how devices that do not work are tainted.
     *
     * @return the taint's effect; empty for no taint
     */
    public final Optional<Taint.Effect> unhealthyTaint() {
        return Optional.ofNullable(unhealthyTaint.effect);
    }

    /**
     * Returns where metrics and probes are served.
     *
     * @return the endpoint, such as {@code :8080}; empty for nowhere
     */
    public final Optional<String> httpEndpoint() {
        return Optional.ofNullable(httpEndpoint).filter(endpoint -> !endpoint.isEmpty());
    }

    /**
     * Returns the path of the metrics.
     *
     * @return the path
     */
    public final String metricsPath() {
        return metricsPath;
    }

    final int verbosity() {
        return verbosity;
    }

    final LogFormat loggingFormat() {
        return loggingFormat;
    }

    final boolean help() {
        return help;
    }

    final boolean version() {
        return version;
    }

    /** Returns the command line that fills these options when it parses. */
    final CommandLine commandLine(DriverProgram program, Map<String, String> environment) {
        CommandLine command = new CommandLine(this);
        command.getCommandSpec()
                .name(program.name())
                .usageMessage()
                .description(program.summary(), "")
                .footer(
                        "",
                        "[NAME] is the environment variable of an option; the command line outweighs"
                                + " it.",
                        "`journal inspect FILE` prints a journal of claims instead, for support.")
                .sortOptions(false)
                .abbreviateSynopsis(true)
                .width(100);
        return command.setDefaultValueProvider(new Environment(program, environment));
    }

    /** The options that every driver has. */
    static final class Standard extends DriverOptions {}

    private record Environment(DriverProgram program, Map<String, String> variables)
            implements IDefaultValueProvider {

        @Override
        public @Nullable String defaultValue(ArgSpec argument) {
            if (!(argument instanceof OptionSpec option)) {
                return null;
            }
            String name = option.longestName();
            String value = NOT_IN_THE_ENVIRONMENT.contains(name) ? null : variables.get(of(name));
            if (value != null && !value.isEmpty()) {
                return value;
            }
            return name.equals("--driver-name") ? program.defaultDriverName() : null;
        }

        private static String of(String option) {
            return option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
        }
    }
}
