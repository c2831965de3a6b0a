// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.runtime.LoggingOptions.LogFormat;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * The command line that drivers and their controllers share; a program extends it by its own
 * options.
 *
 * <p>Every long option may also be given as an environment variable of the same name in upper case
 * with underscores ({@code --node-name}, {@code NODE_NAME}), as drivers written in Go have it; the
 * command line outweighs the environment, and an empty value counts as not given. That holds for
 * the options of subclasses, too; they are declared with picocli's annotations. Values are there
 * once {@link DriverMain} has read the command line.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public abstract class ProgramOptions {

    static final String DEFAULT = "%nDefault: ${DEFAULT-VALUE}";

    private static final Set<String> NOT_IN_THE_ENVIRONMENT = Set.of("--help", "--version", "--output");

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            description = "The driver's name, a DNS subdomain. [DRIVER_NAME]" + DEFAULT)
    private String driverName;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = {"How to reach the API server. [KUBECONFIG]", "Default: as a pod of the cluster"})
    private @Nullable Path kubeconfig;

    @Option(
            names = "--kube-api-qps",
            paramLabel = "N",
            hidden = true,
            description = "No effect: requests to the API server have no limit here; each answers"
                    + " something that happened. [KUBE_API_QPS]")
    private @Nullable Double apiRequestsPerSecond;

    @Option(
            names = "--kube-api-burst",
            paramLabel = "N",
            hidden = true,
            description = "No effect, as --kube-api-qps. [KUBE_API_BURST]")
    private @Nullable Integer apiRequestsAtOnce;

    @Mixin
    private LoggingOptions logging;

    @Option(
            names = {"-h", "--help"},
            order = 102,
            usageHelp = true,
            arity = "0..1",
            paramLabel = "true|false",
            description = "Show this help and exit.")
    private boolean help;

    @Option(
            names = "--version",
            order = 103,
            versionHelp = true,
            arity = "0..1",
            paramLabel = "true|false",
            description = "Show the version and exit.")
    private boolean version;

    /** Creates options that are yet to be read from a command line. */
    protected ProgramOptions() {}

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

    final LoggingOptions logging() {
        return logging;
    }

    final int verbosity() {
        return logging.verbosity();
    }

    final LogFormat loggingFormat() {
        return logging.format();
    }

    final boolean help() {
        return help;
    }

    final boolean version() {
        return version;
    }

    /**
     * Checks options that depend on each other, once all are read.
     *
     * @throws CommandLine.ParameterException if they contradict each other
     */
    void check(CommandLine command) {}

    /** Returns the last lines of the help. */
    String[] footer() {
        return new String[] {"", "[NAME] is the environment variable of an option; the command line outweighs it."};
    }

    /** Returns the command line that fills these options when it parses. */
    final CommandLine commandLine(DriverProgram program, Map<String, String> environment) {
        CommandLine command = new CommandLine(this);
        command.getCommandSpec()
                .name(program.name())
                .usageMessage()
                .description(program.summary(), "")
                .footer(footer())
                .sortOptions(false)
                .abbreviateSynopsis(true)
                .width(100);
        return command.setDefaultValueProvider(new Environment(program, environment));
    }

    private record Environment(DriverProgram program, Map<String, String> variables) implements IDefaultValueProvider {

        @Override
        public @Nullable String defaultValue(ArgSpec argument) {
            if (!(argument instanceof OptionSpec option)) {
                return null;
            }
            String name = option.longestName();
            String value = isInTheEnvironment(name) ? variables.get(of(name)) : null;
            if (value != null && !value.isEmpty()) {
                return value;
            }
            return name.equals("--driver-name") ? program.defaultDriverName() : null;
        }

        private static boolean isInTheEnvironment(String option) {
            return !NOT_IN_THE_ENVIRONMENT.contains(option) && !LoggingOptions.NOT_IN_THE_ENVIRONMENT.contains(option);
        }

        private static String of(String option) {
            return option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
        }
    }
}
