// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.testkit.cluster.ClusterException;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.proxy.UpstreamException;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.slf4j.bridge.SLF4JBridgeHandler;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line of the conformance product; its commands are subcommands. */
@Command(
        name = "dra-conformance",
        description = {"Tries DRA drivers in any language.", ""},
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        mixinStandardHelpOptions = true,
        versionProvider = ConformanceMain.Version.class,
        subcommands = {
            RunMain.class,
            BenchMain.class,
            InitMain.class,
            ListMain.class,
            ExplainMain.class,
            LeagueMain.class,
            PlayMain.class,
            ApiServerMain.class
        })
public final class ConformanceMain {

    /** The exit status without a result about a driver. */
    private static final int NO_ANSWER = 3;

    private static final List<Class<? extends Exception>> ACTIONABLE = List.of(
            SettingsException.class,
            UpstreamException.class,
            ClusterException.class,
            DriverUnusable.class,
            IOException.class);

    private ConformanceMain() {}

    /**
     * Runs one command.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        configureLogging();
        System.exit(commandLine().execute(args));
    }

    /**
     * Warnings only, a line each on standard error. Set here and not in a file that is found by its
     * name: a suite on a class path must not bring along the logging of this program.
     */
    static void configureLogging() {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showLogName", "false");
        System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
        // It warns of connections that the proxy cuts, which is what the proxy is for.
        System.setProperty("org.slf4j.simpleLogger.log.org.eclipse.jetty", "error");
        // gRPC logs by java.util.logging, whose own handler prints what is no warning, too.
        SLF4JBridgeHandler.removeHandlersForRootLogger();
        SLF4JBridgeHandler.install();
    }

    /** The command line as {@link #main} runs it. */
    static CommandLine commandLine() {
        return new CommandLine(new ConformanceMain())
                .setUsageHelpWidth(100)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(ConformanceMain::executeWithoutUnknownWords)
                .setParameterExceptionHandler(ConformanceMain::explainWrongUsage)
                .setExecutionExceptionHandler(ConformanceMain::explainFailure);
    }

    /**
     * Prints the message of an exception that users can act on; all else is a bug of the suite,
     * which is shown with its stack trace, and neither is a result about a driver.
     */
    private static int explainFailure(Exception e, CommandLine command, ParseResult line) {
        PrintWriter err = command.getErr();
        if (ACTIONABLE.stream().anyMatch(type -> type.isInstance(e))) {
            err.println("dra-conformance: " + e.getMessage());
        } else {
            err.println("dra-conformance: the suite itself failed; please report this:");
            e.printStackTrace(err);
        }
        return NO_ANSWER;
    }

    /** Also where help is asked for, which makes the parser leave unknown words alone. */
    private static int executeWithoutUnknownWords(ParseResult line) {
        for (CommandLine command : line.asCommandLineList()) {
            List<String> unknown = command.getParseResult().unmatched();
            if (!unknown.isEmpty()) {
                throw new UnmatchedArgumentException(command, unknown);
            }
        }
        return new CommandLine.RunLast().execute(line);
    }

    /** One line with the error, and one with the place to look; no page of usage hides them. */
    private static int explainWrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        PrintWriter err = command.getErr();
        err.println(name + ": " + message(e));
        err.println("See `" + name + " --help`.");
        return NO_ANSWER;
    }

    private static String message(ParameterException e) {
        return e instanceof UnmatchedArgumentException unmatched
                ? "there is no command or option " + unmatched.getUnmatched().get(0)
                : String.valueOf(e.getMessage());
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = ConformanceMain.class.getPackage().getImplementationVersion();
            return new String[] {"dra-conformance " + (version == null ? "(unpackaged)" : version)};
        }
    }
}
