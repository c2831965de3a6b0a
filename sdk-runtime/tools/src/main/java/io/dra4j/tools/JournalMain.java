// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.command.NodeCommand;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A driver program's command {@code journal inspect FILE}: prints a claim journal, for support. */
@Command(
        name = "journal",
        description = {
            "Prints a claim journal, one row per line, and marks damaged lines.",
            "It only reads, and can be used while the driver runs. The exit status is 0 if the journal is intact, and 1"
                    + " if lines are damaged or missing, or it can't be read.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class JournalMain implements NodeCommand {

    private static final int DAMAGED = 1;

    enum Action {
        inspect
    }

    @Parameters(index = "0", paramLabel = "inspect", description = "What to do.")
    private Action action;

    @Parameters(index = "1", paramLabel = "FILE", description = "claims.journal in the driver's directory.")
    private Path file;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    @Override
    public int run(Program program) {
        long wrong = Journal.inspect(file, program.out());
        if (wrong > 0) {
            program.err().println(wrong + " lines are damaged or missing");
        }
        return wrong == 0 ? 0 : DAMAGED;
    }
}
