// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.driver.DriverLogging;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiPredicate;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Runs a program, or the one of its commands that is named first: reads its command line, and explains its failures.
 *
 * <p>A command is a subcommand of the program's command line, which then has no options; only the named one is created,
 * so that a driver loads none.
 */
record ProgramMain(
        DriverProgram program, Map<String, String> environment, PrintStream out, PrintStream err, Ending ending) {

    private static final String NO_COMMAND = "<main class>"; // picocli's name where none is given
    private static final int WIDTH = 100;
    private static final int STACK_TRACES = 4; // of --v

    /** The program itself or a command of it: what reads its options, and what it does once they are read. */
    record Command(CommandLine line, Callable<Integer> action) {}

    static ProgramMain of(DriverProgram program) {
        return new ProgramMain(program, System.getenv(), System.out, System.err, new Ending());
    }

    /** Executes a command, then ends the JVM with its status. */
    void exit(IntSupplier execution) {
        Locale.setDefault(Locale.ROOT); // the same digits on every machine
        Runtime.getRuntime().addShutdownHook(new Thread(ending::endJvm, "dra4j-shutdown"));
        int status = ExitCode.SOFTWARE;
        try {
            status = execution.getAsInt();
        } catch (RuntimeException | Error e) { // System.exit also ends threads of a provider
            e.printStackTrace(err);
        }
        ending.reached(status);
        System.exit(status);
    }

    /** Returns the command line that fills an object with picocli's annotations. */
    CommandLine line(Object options) {
        CommandSpec spec = CommandSpec.forAnnotatedObject(options);
        CommandLine line = new CommandLine(spec).setUsageHelpWidth(WIDTH);
        if (options instanceof ProgramOptions own) {
            List<OptionSpec> described = List.copyOf(spec.options());
            line.setHelpFactory((shown, colors) -> { // only then: it would take a tenth of a driver's start
                own.describe(shown, described);
                return new Help(shown, colors);
            });
            line.setDefaultValueProvider(own.defaults(program, environment));
        }
        return line;
    }

    /** Returns a command of a vendor, which is called as soon as its options are read. */
    Command command(String name, Callable<Integer> action) {
        CommandLine line = line(action).setCaseInsensitiveEnumValuesAllowed(true);
        line.getCommandSpec().name(name);
        return new Command(line, action);
    }

    /** Adds the options of a command, which come before those of the driver. */
    static CommandLine with(Object command, CommandLine line) {
        CommandSpec spec = line.getCommandSpec();
        CommandSpec own = CommandSpec.forAnnotatedObject(command);
        for (OptionSpec option : own.options()) {
            OptionSpec same = spec.findOption(option.longestName());
            if (same != null) {
                spec.remove(same); // an option that the driver accepts and ignores
            }
        }
        spec.addMixin(own.name(), own);
        return line;
    }

    /**
     * Adapts a driver's command line to another command: it accepts all options, so that both may have the same
     * environment, and shows only those that the command needs.
     *
     * @param isShown whether it needs an option; also told whether every driver has it
     * @param unused the value of options that a driver requires
     */
    static CommandLine only(CommandLine line, BiPredicate<OptionSpec, Boolean> isShown, String unused) {
        CommandSpec command = line.getCommandSpec();
        CommandSpec everyDriver = CommandSpec.forAnnotatedObject(new DriverOptions.Standard());
        for (OptionSpec option : List.copyOf(command.options())) {
            if (!isShown.test(option, everyDriver.findOption(option.longestName()) != null)) {
                OptionSpec.Builder hidden =
                        OptionSpec.builder(option).hidden(true).required(false);
                command.remove(option);
                command.addOption((option.required() ? hidden.defaultValue(unused) : hidden).build());
            }
        }
        return line;
    }

    /** Returns a command that starts a service, which is closed on a signal. */
    Command serving(CommandLine line, Supplier<Runnable> start) {
        ending.handleSignalsOfService();
        return new Command(line, () -> untilEnd(start));
    }

    int untilEnd(Supplier<Runnable> start) {
        ThreadDump.onSignal(Path.of(System.getProperty("java.io.tmpdir"), ThreadDump.FILE), err);
        Runnable close = start.get();
        ending.awaitRequest();
        try {
            close.run();
        } finally {
            ending.throwFailure(); // which is the reason, even if closing fails
        }
        return ExitCode.OK;
    }

    /** Reads the arguments and does what they ask for; returns the exit status. */
    int execute(Command command, String... args) {
        CommandLine line = command.line();
        CommandSpec spec = line.getCommandSpec().version(program.name() + " " + program.version());
        CommandLine root = line;
        if (spec.name().equals(NO_COMMAND)) {
            spec.name(program.name()).usageMessage().description(program.summary(), "");
        } else {
            root = new CommandLine(CommandSpec.create().name(program.name())).addSubcommand(spec.name(), line);
        }
        return root.setOverwrittenOptionsAllowed(true) // the last one counts, as in Go programs
                .setOut(new PrintWriter(out, true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(err, true, StandardCharsets.UTF_8))
                .setParameterExceptionHandler(this::wrong)
                .setExecutionStrategy(parsed -> run(line, command.action(), parsed))
                .execute(args);
    }

    private int wrong(ParameterException problem, String[] args) {
        String message = String.valueOf(problem.getMessage());
        CommandLine line = problem.getCommandLine();
        if (line.getCommand() instanceof ProgramOptions) {
            for (OptionSpec option : line.getCommandSpec().options()) {
                message = message.replace(option.paramLabel(), ProgramOptions.label(option));
            }
        }
        err.println(program.name() + ": " + message);
        err.println("Run it with --help to see its options.");
        return ExitCode.USAGE;
    }

    private int run(CommandLine line, Callable<Integer> action, ParseResult parsed) {
        if (line.getCommand() instanceof ProgramOptions options) {
            line.setDefaultValueProvider(options.defaults(program, Map.of())); // which help shows: no secrets
        }
        Integer asked = CommandLine.executeHelpRequest(parsed);
        if (asked != null) {
            return asked;
        }
        LoggingOptions logging = new LoggingOptions();
        if (line.getCommand() instanceof ProgramOptions options) {
            options.check(line);
            logging = options.logging();
        }
        logging.begin();
        try {
            return action.call();
        } catch (ParameterException e) {
            throw e;
        } catch (Exception e) { // of a driver or of a command, which end here
            explain(logging, e);
            return line.getCommandSpec().exitCodeOnExecutionException();
        }
    }

    /** Reports why the program can't continue, as text for people or as a log line. */
    private void explain(LoggingOptions logging, Exception cause) {
        if (logging.isJson() && ending.isOfService()) {
            LoggerFactory.getLogger(DriverLogging.class)
                    .atError()
                    .setCause(cause)
                    .log("The program cannot run");
            return;
        }
        String what = cause instanceof DraException ? String.valueOf(cause.getMessage()) : "unexpected: " + cause;
        err.println(program.name() + ": " + what);
        if (logging.verbosity() >= STACK_TRACES) {
            cause.printStackTrace(err);
        }
    }

    /**
     * Writes the stacks of all threads to a file when SIGUSR2 arrives, as Go drivers do; to standard
     * error if the file can't be written.
     */
    static final class ThreadDump {

        /** The name used by NVIDIA's driver, for scripts that collect it. */
        static final String FILE = "goroutine-stacks.dump";

        private static final Logger LOG = LoggerFactory.getLogger(ProgramMain.class);

        private ThreadDump() {}

        /** Waits for the signal while the JVM runs. */
        static void onSignal(Path file, PrintStream otherwise) {
            try {
                // By reflection: no comment or annotation lets javac accept a JDK-internal class.
                Class<?> signal = Class.forName("sun.misc.Signal");
                Class<?> handler = Class.forName("sun.misc.SignalHandler");
                Object write = Proxy.newProxyInstance(
                        ThreadDump.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                            write(file, otherwise);
                            return null;
                        });
                signal.getMethod("handle", signal, handler)
                        .invoke(null, signal.getConstructor(String.class).newInstance("USR2"), write);
            } catch (ReflectiveOperationException e) {
                LOG.atDebug().setCause(e).log("SIGUSR2 writes no thread dump here; SIGQUIT does, to standard output");
            }
        }

        private static void write(Path file, PrintStream otherwise) {
            StringBuilder stacks = new StringBuilder();
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                stacks.append(thread).append(' ').append(thread.getState()).append('\n');
                Stream.of(frames)
                        .forEach(frame -> stacks.append("\tat ").append(frame).append('\n'));
            });
            try {
                Files.writeString(file, stacks);
                LOG.atInfo().log("Wrote the stacks of all threads to {}", file);
            } catch (IOException e) {
                LOG.atError().setCause(e).log("Can't write {}; the stacks of all threads follow", file);
                otherwise.println(stacks);
            }
        }
    }
}
