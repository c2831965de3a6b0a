// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * The command line that drivers and their controllers share; a program extends it with its own options.
 *
 * <p>Every long option may also be given as an environment variable of the same name in upper case with underscores
 * ({@code --node-name}, {@code NODE_NAME}), as in Go drivers; the command line overrides the environment, and an empty
 * value counts as not given. This applies to the options of subclasses as well; they are declared with picocli's
 * annotations. A description may name its option's variable, {@code [ROOT]}, or a different one with a dollar sign,
 * {@code [$ACME_ROOT]}; otherwise {@link #variable} determines it. {@code --help} shows the variable, the type and the
 * default, which is never a value from the environment. Values are available once {@link DriverMain} has read the
 * command line.
 */
@Command(
        sortOptions = false,
        abbreviateSynopsis = true,
        footer = {"", ProgramOptions.VARIABLES})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public abstract class ProgramOptions {

    static final String VARIABLES = "[NAME] is the environment variable of an option; the command line overrides it.";
    static final String DEFAULT = "%nDefault: ${DEFAULT-VALUE}";

    /** A variable in a description, in brackets, as are units. */
    private static final Pattern NAMED = Pattern.compile("\\[(\\$?)([A-Z][A-Z0-9_]*)[],]");

    private static final Set<String> OF_EVERY_PROCESS = Set.of(
            "HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "USER");

    private static final Set<String> NOT_IN_THE_ENVIRONMENT = Set.of("--help", "--version", "--output");

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            description = "The driver's name, a DNS subdomain. [DRIVER_NAME]" + DEFAULT)
    private String driverName;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = {"How to reach the API server. [KUBECONFIG]", "Default: the pod's service account"})
    private @Nullable Path kubeconfig;

    @Option(
            names = "--kube-api-qps",
            paramLabel = "N",
            hidden = true,
            description = "No effect: requests to the API server are not rate-limited; each responds to"
                    + " an event. [KUBE_API_QPS]")
    private @Nullable Double apiRequestsPerSecond;

    @Option(
            names = "--kube-api-burst",
            paramLabel = "N",
            hidden = true,
            description = "No effect; see --kube-api-qps. [KUBE_API_BURST]")
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

    /**
     * Checks options that depend on each other, once all are read.
     *
     * @throws CommandLine.ParameterException if they contradict each other
     */
    void check(CommandLine command) {}

    /** Returns the program's default of an option; {@code null} for the default that all programs share. */
    @Nullable
    String ofProgram(String option) {
        return null;
    }

    /**
     * Returns the environment variable of an option of the program whose description has none.
     *
     * <p>A program may have a prefix, {@code return "ACME_" + name}, or other variables, or none. By default it is the
     * name given, or none if every process has such a variable, such as {@code HOSTNAME} for {@code --hostname}.
     *
     * @param name the long option in upper case with underscores
     * @return the variable; {@code null} for none
     */
    protected @Nullable String variable(String name) {
        return OF_EVERY_PROCESS.contains(name) ? null : name;
    }

    /** The kubelet sets METRICS_PORT to such a value for a Service called metrics in the pod's namespace. */
    private static boolean isOfService(String variable, String value) {
        return variable.endsWith("_PORT") && value.matches("(tcp|udp|sctp)://.*");
    }

    /** Returns the values of options that are not on the command line. */
    final IDefaultValueProvider defaults(DriverProgram program, Map<String, String> environment) {
        return argument -> argument instanceof OptionSpec option
                ? variableOf(option)
                        .filter(name -> !isOfService(name, environment.getOrDefault(name, "")))
                        .map(environment::get)
                        .map(given -> option.splitRegex().isEmpty() ? given : entries(given))
                        .filter(given -> !given.isEmpty())
                        .map(given -> given.replace("${", "$${")) // for picocli, which fills in variables
                        .orElseGet(() -> option.longestName().equals("--driver-name")
                                ? program.defaultDriverName()
                                : ofProgram(option.longestName()))
                : null;
    }

    /** Returns a list without blanks and empty entries, which programs in Go skip. */
    private static String entries(String list) {
        return list.strip().replaceAll("\\s*,[\\s,]*", ",").replaceAll("^,|,$", "");
    }

    private Optional<String> variableOf(OptionSpec option) {
        String name = option.longestName();
        if (!name.startsWith("--")
                || NOT_IN_THE_ENVIRONMENT.contains(name)
                || LoggingOptions.NOT_IN_THE_ENVIRONMENT.contains(name)) {
            return Optional.empty();
        }
        String same = name.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
        String text = text(option);
        for (int at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) {
            Matcher named = NAMED.matcher(text).region(at, text.length());
            if (named.lookingAt()
                    && (!named.group(1).isEmpty() || named.group(2).equals(same))) {
                return Optional.of(named.group(2));
            }
        }
        return Optional.ofNullable(variable(same));
    }

    /** Adds variable, type and default to the help of these options. */
    final void describe(CommandSpec spec, List<OptionSpec> own) {
        for (OptionSpec option : List.copyOf(spec.options())) {
            if (option.group() == null) {
                spec.remove(option);
                spec.addOption(own.contains(option) && !option.hidden() ? described(option) : option);
            }
        }
    }

    private OptionSpec described(OptionSpec option) {
        String text = text(option);
        String named = variableOf(option)
                .filter(name -> !Pattern.compile("\\[\\$?%s[],]".formatted(Pattern.quote(name)))
                        .matcher(text)
                        .find())
                .map(" [%s]"::formatted)
                .orElse("");
        boolean hasDefault = option.defaultValue() != null || option.initialValue() != null && !option.required();
        boolean isSaid = text.contains("Default: ") || option.arity().min() == 0 || option.isMultiValue();
        return OptionSpec.builder(option)
                .description(text + named + (hasDefault && !isSaid ? DEFAULT : ""))
                .paramLabel(label(option))
                .build();
    }

    /** Returns the description as declared: filling in the default would read the variable. */
    private static String text(OptionSpec option) {
        return String.join("%n", OptionSpec.builder(option).description());
    }

    /** Returns the label of an option's value: its type if none was declared. */
    static String label(OptionSpec option) {
        if (!option.paramLabel().startsWith("<")) {
            return option.paramLabel();
        }
        Class<?> type = option.typeInfo().getType();
        if (type.isEnum()) {
            return Stream.of(type.getEnumConstants()).map(String::valueOf).collect(Collectors.joining("|"));
        }
        if (type == boolean.class || type == Boolean.class) {
            return "true|false";
        }
        return type.isPrimitive() || Number.class.isAssignableFrom(type) ? "N" : option.paramLabel();
    }
}
