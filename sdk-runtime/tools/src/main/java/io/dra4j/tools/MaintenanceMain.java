// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ProgramOptions;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.tools.MaintenanceView.ClaimPods;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** A driver program's command {@code maintenance}: takes the devices of a node out of use. */
@Command(
        name = "maintenance",
        description = {
            "Takes devices of this node out of use, and shows which claims still hold any.",
            "Run it on the driver's node, preferably in the driver's pod by `kubectl exec`."
                    + " Maintenance survives restarts and reboots until it is switched off.",
            "",
            "on      taints the devices, and waits until no claim holds one. The driver then releases its"
                    + " hardware, if all devices are in maintenance.",
            "off     removes the taint.",
            "status  shows the same without waiting.",
            "",
            "The exit status of on and status is 0 once the devices are out of use, and 1 before that.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class MaintenanceMain extends ProgramOptions implements NodeCommand {

    private static final int NOT_YET = 1;
    private static final Duration LOOK = Duration.ofMillis(200);

    /** The options for interactive use only. */
    private static final Set<String> NO_VARIABLES = Set.of("DEVICE", "EVICT", "TIMEOUT");

    @Spec
    private CommandSpec spec;

    enum Action {
        on,
        off,
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
                "The names of the devices, with * for any text and ? for any character; separate several"
                        + " by commas, or repeat the option.",
                "Default: all devices"
            })
    private List<String> devices;

    @Option(
            names = "--evict",
            description = "Taint with NoExecute, so that pods that use the devices are evicted; otherwise"
                    + " with NoSchedule, and they keep running.")
    private boolean evict;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            converter = SecondsFromText.class,
            description = {
                "How long `on` waits until no claim holds the devices: seconds, or a duration such as 90s or 5m.",
                "Default: ${DEFAULT-VALUE}"
            })
    private Duration timeout;

    @Option(
            names = "--kubelet-plugins-directory-path",
            paramLabel = "DIR",
            defaultValue = DriverSettings.PLUGINS_DIRECTORY,
            description = "Where the driver has its directory. [KUBELET_PLUGINS_DIRECTORY_PATH]"
                    + "%nDefault: ${DEFAULT-VALUE}")
    private Path pluginsDirectory;

    /** Reads seconds, or numbers with their units. */
    private static final class SecondsFromText implements ITypeConverter<Duration> {

        @Override
        public Duration convert(String text) {
            if (text.matches("\\d{1,9}")) {
                return Duration.ofSeconds(Long.parseLong(text));
            }
            if (text.matches("(?i)(?=.)(\\d{1,5}h)?(\\d{1,7}m)?(\\d{1,9}s)?")) {
                return Duration.parse("PT" + text);
            }
            throw new TypeConversionException(
                    "'%s' is not a number of seconds, nor a time such as 90s, 5m or 1h".formatted(text));
        }
    }

    @Override
    protected @Nullable String variable(String name) {
        return NO_VARIABLES.contains(name) ? null : super.variable(name);
    }

    @Override
    public int run(Program program) {
        program.handleSignals();
        Path directory = pluginsDirectory.resolve(driverName());
        if (!Files.isDirectory(directory)) {
            throw new DraException(("There is no directory %s, so %s does not run on this node; run the command"
                            + " in the driver's pod, or give --driver-name and"
                            + " --kubelet-plugins-directory-path as the driver has them")
                    .formatted(directory, driverName()));
        }
        MaintenanceFiles files = new MaintenanceFiles(directory);
        MaintenanceView view = new MaintenanceView(directory, driverName(), files);
        return switch (action) {
            case on -> {
                Maintenance asked = asked();
                files.write(asked);
                MaintenanceView.State state = await(view, asked, program);
                int status = report(state, program);
                yield isCurrent(asked, state) ? status : NOT_YET;
            }
            case off -> {
                program.out()
                        .println(
                                files.remove()
                                        ? "Maintenance is off: the driver removes the taint within seconds."
                                        : "Maintenance was already off.");
                yield 0;
            }
            case status -> report(view.now(), program);
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

    /** Polls until the devices are out of use, the timeout expires, or someone ends the command or the maintenance. */
    private MaintenanceView.State await(MaintenanceView view, Maintenance asked, Program program) {
        long end = System.nanoTime() + timeout.toNanos();
        MaintenanceView.State state = view.now();
        while (isCurrent(asked, state)
                && !state.isOutOfUse()
                && System.nanoTime() < end
                && !program.isEndRequestedWithin(LOOK)) {
            state = view.now();
        }
        return state;
    }

    private static boolean isCurrent(Maintenance asked, MaintenanceView.State state) {
        return state.maintenance().equals(Optional.of(asked));
    }

    private int report(MaintenanceView.State state, Program program) {
        program.out()
                .print(state.text(ClaimPods.of(state.holders(), kubeconfig().orElse(null), driverName())));
        program.out().flush();
        return state.isOutOfUse() ? 0 : NOT_YET;
    }
}
