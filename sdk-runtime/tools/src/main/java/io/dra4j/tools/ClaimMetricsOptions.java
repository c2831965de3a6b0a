// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.runtime.ProgramOptions;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.runtime.internal.driver.HttpSettings;
import io.dra4j.tools.pending.RunningClaimMetrics;
import java.time.InstantSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A driver program's command {@code claim-metrics}, which has no options of the driver. */
@Command(
        name = "claim-metrics",
        description = {
            "Serves the number of claims that wait for devices, and how long they wait, by device class. One process is"
                    + " enough for a cluster, regardless of its drivers; it needs no node, and no permission except to list"
                    + " ResourceClaims.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ClaimMetricsOptions extends ProgramOptions implements NodeCommand {

    @Option(
            names = "--http-endpoint",
            paramLabel = "HOST:PORT",
            defaultValue = ":8080",
            description =
                    "Where to serve metrics and the probes /healthz and /readyz. [HTTP_ENDPOINT]%nDefault: ${DEFAULT-VALUE}")
    private String httpEndpoint;

    @Option(
            names = "--metrics-path",
            paramLabel = "PATH",
            defaultValue = HttpSettings.METRICS_PATH,
            description = "The path of the metrics. [METRICS_PATH]%nDefault: ${DEFAULT-VALUE}")
    private String metricsPath;

    @Override
    public int run(Program program) {
        return program.serve(this::start);
    }

    private Runnable start() {
        return RunningClaimMetrics.start(
                driverName(),
                kubeconfig().orElse(null),
                HttpSettings.of(httpEndpoint, metricsPath),
                InstantSource.system())::close;
    }
}
