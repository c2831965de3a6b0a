// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.Journal;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * A driver program's other command: {@code journal inspect FILE} prints a journal for support.
 *
 * <p>The exit status is 0 if the journal is intact, 1 if lines of it are damaged or missing or it
 * can't be read, and 2 if the command line is wrong.
 */
@Command(
        name = "journal",
        description = "Looks at the journal of claims.",
        subcommands = JournalMain.Inspect.class,
        synopsisSubcommandLabel = "inspect FILE")
public final class JournalMain {

    private static final int DAMAGED = 1;

    private final PrintStream out;
    private final PrintStream err;

    public JournalMain(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Returns whether a command line is one for this program. */
    public static boolean isFor(String[] args) {
        return args.length > 0 && args[0].equals("journal");
    }

    public int execute(String program, String[] args) {
        return new CommandLine(new Program())
                .setCommandName(program)
                .addSubcommand(this)
                .setOut(new java.io.PrintWriter(out, true))
                .setErr(new java.io.PrintWriter(err, true))
                .execute(args);
    }

    /** The program itself, whose subcommand is {@code journal}. */
    @Command(synopsisSubcommandLabel = "journal")
    private static final class Program {}

    @Command(
            name = "inspect",
            description = {
                "Prints a journal, a row for each line, and marks damaged ones.",
                "It only reads, and can be used while the driver runs."
            })
    static final class Inspect implements Callable<Integer> {

        @Parameters(paramLabel = "FILE", description = "claims.journal in the driver's directory")
        private Path file = Path.of("claims.journal");

        @Spec
        private CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            JournalMain journal = (JournalMain) spec.parent().userObject();
            try {
                long wrong = Journal.inspect(file, journal.out);
                if (wrong > 0) {
                    journal.err.println(wrong + " lines are damaged or missing");
                }
                return wrong == 0 ? 0 : DAMAGED;
            } catch (DraException e) {
                journal.err.println(e.getMessage());
                return DAMAGED;
            }
        }
    }
}
