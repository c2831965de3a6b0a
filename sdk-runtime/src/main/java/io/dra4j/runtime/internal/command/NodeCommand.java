// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.command;

import java.io.PrintStream;
import java.time.Duration;
import java.util.function.Supplier;

/** A command of every driver's program: a public class with picocli's annotations, and a constructor without arguments. */
public interface NodeCommand {

    /** Runs the command, once its options are read; returns the exit status. */
    int run(Program program);

    /** Returns whether its command line is that of the driver, with its own options before the driver's. */
    default boolean takesDriverOptions() {
        return false;
    }

    /** The program that the command is run by. */
    interface Program {

        PrintStream out();

        PrintStream err();

        /** Lets a signal ask the command to end; otherwise a signal ends the JVM. */
        void handleSignals();

        /** Waits, and returns whether the end was requested. */
        boolean isEndRequestedWithin(Duration time);

        /** Starts a service, closes it on a signal, and returns the exit status. */
        int serve(Supplier<Runnable> start);

        /** Returns the driver's node, for a command that takes the driver's options. */
        DriverNode node();
    }
}
