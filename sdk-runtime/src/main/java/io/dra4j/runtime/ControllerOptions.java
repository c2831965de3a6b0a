// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** A driver program's command {@code controller}: its options, which come before the driver's. */
@Command(
        name = "controller",
        description = {
            "Publishes the driver's pools of several nodes, from a Deployment in which one"
                    + " replica publishes. It takes the driver's other options as well.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ControllerOptions {

    /** The driver's options that apply without a node. */
    private static final Set<String> SHARED = Set.of(
            "--driver-name",
            "--kubeconfig",
            "--http-endpoint",
            "--metrics-port",
            "--metrics-path",
            "--v",
            "--logging-format",
            "--help",
            "--version");

    @Option(
            names = "--leader-election-namespace",
            order = -4,
            paramLabel = "NAME",
            defaultValue = "",
            description = {
                "The namespace of the Lease by which replicas elect a leader. [LEADER_ELECTION_NAMESPACE]",
                "Default: the pod's namespace"
            })
    private String namespace;

    @Option(
            names = "--leader-election-lease-duration",
            order = -3,
            paramLabel = "DURATION",
            defaultValue = "15s",
            converter = GoDuration.class,
            description = "How long others wait for a leader that does not renew the Lease, such as 1m30s or 0.5s."
                    + " [LEADER_ELECTION_LEASE_DURATION]"
                    + ProgramOptions.DEFAULT)
    private Duration duration;

    @Option(
            names = "--leader-election-renew-deadline",
            order = -2,
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = GoDuration.class,
            description =
                    "How long a leader publishes after it last renewed the Lease. [LEADER_ELECTION_RENEW_DEADLINE]"
                            + ProgramOptions.DEFAULT)
    private Duration renewDeadline;

    @Option(
            names = "--leader-election-retry-period",
            order = -1,
            paramLabel = "DURATION",
            defaultValue = "2s",
            converter = GoDuration.class,
            description = "The time between attempts to acquire or renew the Lease. [LEADER_ELECTION_RETRY_PERIOD]"
                    + ProgramOptions.DEFAULT)
    private Duration retryPeriod;

    <O extends DriverOptions> ProgramMain.Command command(
            ProgramMain main, O options, Function<? super O, ? extends DeviceProvider> provider) {
        return main.serving(
                ProgramMain.with(this, ProgramMain.only(main.line(options), ControllerOptions::isShown, "controller")),
                () -> start(options, provider.apply(options), main.ending()));
    }

    /** The program's own options may determine what is published. */
    private static boolean isShown(OptionSpec option, boolean isOfEveryDriver) {
        return SHARED.contains(option.longestName()) || !isOfEveryDriver;
    }

    private Runnable start(DriverOptions options, DeviceProvider provider, Ending ending) {
        PoolController controller = PoolController.of(options.driverName(), provider)
                .kubeconfig(options.kubeconfig())
                .leaseNamespace(namespace)
                .leaseTimes(duration, renewDeadline, retryPeriod)
                .httpEndpoint(options.httpEndpoint().orElse(null), options.metricsPath())
                .listener(ending);
        controller.start();
        return controller::close;
    }

    /** Hours, minutes and seconds as Go programs write them; only seconds may have a fraction. */
    static final class GoDuration implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            try {
                return Duration.parse("PT" + value.toUpperCase(Locale.ROOT));
            } catch (DateTimeParseException e) {
                throw new TypeConversionException("'" + value + "' is not a duration such as 15s, 1m30s or 0.5s");
            }
        }
    }
}
