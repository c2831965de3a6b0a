// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.report.League;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code league}: a page of several drivers' reports. */
@Command(
        name = "league",
        mixinStandardHelpOptions = true,
        description = {"Print a Markdown page of the reports of several drivers.", ""})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LeagueMain implements Callable<Integer> {

    @Parameters(paramLabel = "DIR", description = "The folder below which their report.yaml files are.")
    private Path directory;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        spec.commandLine().getOut().print(League.page(directory));
        spec.commandLine().getOut().flush();
        return 0;
    }
}
