// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.cluster.ClusterException;
import io.dra4j.conformance.cluster.KubeconfigException;
import io.dra4j.conformance.driver.DriverAdapters;
import io.dra4j.conformance.driver.DriverTrouble;
import io.dra4j.conformance.proxy.UpstreamException;
import io.dra4j.conformance.report.Reports;
import io.dra4j.conformance.report.Terminal;
import io.dra4j.conformance.report.TerminalProgress;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Deviations;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code run}: a driver is judged. */
@Command(
        name = "run",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Try a driver by the catalogue of requirements, and write a report.",
            "",
        },
        footer = {
            "",
            "Each flag has its place in the settings, named in [brackets], and wins there.",
            "Exit status: 0 if all is well, 1 if a MUST is broken, 2 if a core profile is only partly"
                    + " tried, 3 if the suite or the driver could not be run."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RunMain implements Callable<Integer> {

    private static final int TROUBLE = 3;

    @Mixin private RunOptions options;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        try {
            return run(options.settings());
        } catch (SettingsException
                | KubeconfigException
                | UpstreamException
                | ClusterException
                | DriverTrouble
                | IOException e) {
            spec.commandLine().getErr().println("dra-conformance: " + e.getMessage());
            return TROUBLE;
        }
    }

    private static int run(Settings settings) throws IOException {
        Catalogue catalogue = Catalogue.load();
        Deviations deviations =
                settings.deviations().isEmpty()
                        ? Deviations.NONE
                        : Deviations.read(Path.of(settings.deviations()));
        TerminalProgress progress =
                new TerminalProgress(Terminal.of(System.out, Ansi.AUTO.enabled()));
        Outcome seen =
                new Engine(settings, DriverAdapters.of(settings.driver()), catalogue, progress)
                        .run();
        Set<String> known =
                catalogue.requirements().stream().map(Requirement::id).collect(Collectors.toSet());
        Deviations.Applied applied = deviations.apply(seen.results(), known, LocalDate.now());
        Outcome outcome = new Outcome(seen.header(), seen.profiles(), applied.results());
        List<Path> files = Reports.write(outcome, Path.of(settings.report()));
        progress.finished(outcome, applied.notes(), files);
        return outcome.exitCode();
    }
}
