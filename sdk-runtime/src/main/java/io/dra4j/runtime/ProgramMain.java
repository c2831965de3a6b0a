// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.runtime.LoggingOptions.LogFormat;
import io.dra4j.runtime.internal.driver.DriverLogging;
import java.io.PrintStream;
import java.util.OptionalInt;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command line of a program: it is read, and failures are explained, in one way. */
record ProgramMain(PrintStream out, PrintStream err) {

    private static final int SUCCESS = 0;
    private static final int USAGE = 2;
    private static final int STACK_TRACES = 4; // of --v

    /** Fills the options; returns the exit status if the program is to end with that. */
    OptionalInt parse(String[] args, CommandLine command, DriverProgram program, ProgramOptions options) {
        try {
            command.parseArgs(args);
            options.check(command);
        } catch (ParameterException e) {
            err.println(program.name() + ": " + e.getMessage());
            err.println("Run it with --help to see its options.");
            return OptionalInt.of(USAGE);
        }
        if (options.help()) {
            command.usage(out);
            return OptionalInt.of(SUCCESS);
        }
        if (options.version()) {
            out.println(program.name() + " " + program.version());
            return OptionalInt.of(SUCCESS);
        }
        DriverLogging.configure(options.loggingFormat() == LogFormat.json, options.verbosity());
        options.logging().logIgnored();
        return OptionalInt.empty();
    }

    /** Says why the program can't go on: to people, or to what collects logs. */
    void explain(DriverProgram program, ProgramOptions options, String what, RuntimeException cause) {
        if (options.loggingFormat() == LogFormat.json) {
            LoggerFactory.getLogger(DriverLogging.class)
                    .atError()
                    .setCause(cause)
                    .log("The driver cannot run");
            return;
        }
        err.println(program.name() + ": " + what);
        if (options.verbosity() >= STACK_TRACES) {
            cause.printStackTrace(err);
        }
    }
}
