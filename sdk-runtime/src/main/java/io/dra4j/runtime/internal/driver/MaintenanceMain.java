// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Takes the devices of a node out of use, as a command of a driver's program. */
@Command(
        sortOptions = false,
        description = {
            "Takes the devices of this node out of use, and shows which claims still hold some.",
            "It is for a driver that runs on this node, and best run in its pod by `kubectl exec`. A"
                    + " maintenance lasts over restarts and reboots until it is switched off.",
            "",
            "on      taints the devices, and waits until no claim holds one. The driver then gives its"
                    + " hardware back, if all devices are in maintenance.",
            "off     removes the taint.",
            "status  shows the same at once.",
            "",
            "The exit status of on and status is 0 once the devices are out of use, and 1 before.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class MaintenanceMain implements Callable<Integer> {

    private static final int NOT_YET = 1;
    private static final int WIDTH = 100;
    private static final Duration LOOK = Duration.ofMillis(200);

    private Predicate<Duration> ends = time -> true;

    @Spec
    private CommandSpec spec;

    /** The words for what to do. */
    enum Action {
        /** Begin. */
        on,
        /** End. */
        off,
        /** Show. */
        status
    }

    @Parameters(paramLabel = "on|off|status", description = "What to do.")
    private Action action;

    @Option(
            names = "--device",
            paramLabel = "PATTERN",
            split = ",",
            defaultValue = "*",
            description = {
                "The names of the devices, with * for any text and ? for any character; several with"
                        + " commas, and several times.",
                "Default: all devices"
            })
    private List<String> devices;

    @Option(
            names = "--evict",
            description = "Taint with NoExecute, so that pods that use the devices are evicted; otherwise"
                    + " with NoSchedule, and they go on.")
    private boolean evict;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            converter = SecondsFromText.class,
            description = {
                "How long `on` waits until no claim holds the devices; also as kubectl has it, 90s or" + " 5m.",
                "Default: ${DEFAULT-VALUE}"
            })
    private Duration timeout;

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            description = "The driver's name. [DRIVER_NAME]%nDefault: ${DEFAULT-VALUE}")
    private String driverName;

    @Option(
            names = "--kubelet-plugins-directory-path",
            paramLabel = "DIR",
            defaultValue = "/var/lib/kubelet/plugins",
            description = "Where the driver has its directory. [KUBELET_PLUGINS_DIRECTORY_PATH]"
                    + "%nDefault: ${DEFAULT-VALUE}")
    private Path pluginsDirectory;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = {
                "How to reach the API server, which knows the pods of claims. [KUBECONFIG]",
                "Default: as a pod of the cluster"
            })
    private @Nullable Path kubeconfig;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    private MaintenanceMain() {}

    /** Reads seconds, or a number with its unit. */
    private static final class SecondsFromText implements ITypeConverter<Duration> {
        private static final Pattern FORM = Pattern.compile("(\\d{1,9})([smh]?)");

        @Override
        public Duration convert(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw new TypeConversionException(
                        "'%s' is no number of seconds, nor a time such as 90s, 5m or 1h".formatted(text));
            }
            long number = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "m" -> Duration.ofMinutes(number);
                case "h" -> Duration.ofHours(number);
                default -> Duration.ofSeconds(number);
            };
        }
    }

    /** Returns whether a command line is one for this program. */
    public static boolean isFor(String[] args) {
        return args.length > 0 && args[0].equals("maintenance");
    }

    /**
     * Runs the command.
     *
     * @param driver the driver's name where none is given
     * @param args the command line, with {@code maintenance} as its first word
     * @param output standard output, and standard error
     * @param ends waits for a time, and returns whether the command is to end
     * @return the exit status
     */
    public static int execute(
            String program,
            String driver,
            Map<String, String> environment,
            String[] args,
            List<PrintStream> output,
            Predicate<Duration> ends) {
        MaintenanceMain command = new MaintenanceMain();
        command.ends = ends;
        Map<String, String> defaults =
                Map.of("--driver-name", driver, "--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins");
        return new CommandLine(command)
                .setCommandName(program + " maintenance")
                .setDefaultValueProvider(argument -> argument instanceof OptionSpec option
                        ? value(option.longestName(), environment, defaults)
                        : null)
                .setOut(new PrintWriter(output.get(0), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(output.get(1), true, StandardCharsets.UTF_8))
                .setUsageHelpWidth(WIDTH)
                .execute(Arrays.copyOfRange(args, 1, args.length));
    }

    /** Those options alone that the driver finds in its environment, too. */
    private static @Nullable String value(
            String option, Map<String, String> environment, Map<String, String> defaults) {
        boolean isOfTheDriver = defaults.containsKey(option) || option.equals("--kubeconfig");
        String variable = option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
        String given = isOfTheDriver ? environment.getOrDefault(variable, "") : "";
        return given.isEmpty() ? defaults.get(option) : given;
    }

    @Override
    public Integer call() {
        DriverLogging.configure(false, 0);
        try {
            Path directory = pluginsDirectory.resolve(driverName);
            if (!Files.isDirectory(directory)) {
                throw new DraException(("There is no directory %s, so %s does not run on this node; run the command"
                                + " in the driver's pod, or give --driver-name and"
                                + " --kubelet-plugins-directory-path as the driver has them")
                        .formatted(directory, driverName));
            }
            return run(directory);
        } catch (DraException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return NOT_YET;
        }
    }

    private int run(Path directory) {
        MaintenanceFiles files = new MaintenanceFiles(directory);
        MaintenanceView view = new MaintenanceView(directory, driverName, files);
        return switch (action) {
            case on -> {
                Maintenance asked = asked();
                files.write(asked);
                yield report(view, await(view, asked));
            }
            case off -> {
                spec.commandLine()
                        .getOut()
                        .println(
                                files.remove()
                                        ? "Maintenance is off: the driver removes the taint within seconds."
                                        : "There was no maintenance.");
                yield 0;
            }
            case status -> report(view, view.now());
        };
    }

    private Maintenance asked() {
        try {
            return new Maintenance(
                    UUID.randomUUID().toString(),
                    devices,
                    evict ? "NoExecute" : "NoSchedule",
                    Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--device: " + e.getMessage(), e);
        }
    }

    /** Looks until the devices are out of use, the time is over, or someone ends the command. */
    private MaintenanceView.State await(MaintenanceView view, Maintenance asked) {
        long end = System.nanoTime() + timeout.toNanos();
        MaintenanceView.State state = view.of(asked);
        while (!state.isOutOfUse() && System.nanoTime() < end && !ends.test(LOOK)) {
            state = view.of(asked);
        }
        return state;
    }

    private int report(MaintenanceView view, MaintenanceView.State state) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(state.text(ClaimPods.of(state.holders(), kubeconfig, driverName)));
        out.flush();
        return state.isOutOfUse() ? 0 : NOT_YET;
    }
}
