// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.report.Reports;
import io.dra4j.conformance.report.Terminal;
import io.dra4j.conformance.report.TerminalProgress;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.KnownFailures;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code run}: tests a driver. */
@Command(
        name = "run",
        customSynopsis = {
            "dra-conformance run [OPTION]... --driver-name=NAME -- COMMAND...",
            "       dra-conformance run [OPTION]... --config=FILE"
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Test a driver against the catalogue of requirements, and write a report.",
            "",
        },
        footer = {
            "",
            DriverOptions.PLACES,
            "Exit status: 0 if all is well, 1 if a MUST is broken, 2 if a core profile is only partly tested or has known failures, 3 if the suite or the driver could not be run."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RunMain implements Callable<Integer> {

    @Mixin
    private RunOptions options;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Settings settings = DriverOptions.settings(spec);
        Catalogue catalogue = Catalogue.load();
        KnownFailures knownFailures = settings.knownFailures().isEmpty()
                ? KnownFailures.NONE
                : KnownFailures.read(Path.of(settings.knownFailures()));
        TerminalProgress progress = new TerminalProgress(Terminal.of(System.out, Ansi.AUTO.enabled()));
        Engine engine = new Engine(settings, DriverAdapters.of(settings.driver()), catalogue, progress);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(engine, progress), "dra-conformance-end"));
        Outcome seen = engine.run();
        Set<String> known =
                catalogue.requirements().stream().map(Requirement::id).collect(Collectors.toSet());
        KnownFailures.Applied applied = knownFailures.apply(seen.results(), known, LocalDate.now());
        List<String> notes = new ArrayList<>(seen.notes());
        notes.addAll(applied.notes());
        Outcome outcome = new Outcome(seen.header(), seen.profiles(), applied.results(), notes);
        List<Path> files = Reports.write(outcome, Path.of(settings.report()));
        progress.finished(outcome, files);
        return outcome.exitCode();
    }

    /** Failures that follow from the end wait for the progress, and are not printed. */
    private static void end(Engine engine, TerminalProgress progress) {
        synchronized (progress) {
            engine.close();
        }
    }
}
