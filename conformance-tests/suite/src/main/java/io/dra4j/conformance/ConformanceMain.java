// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.report.League;
import io.dra4j.conformance.report.Reports;
import io.dra4j.conformance.report.Terminal;
import io.dra4j.conformance.report.TerminalProgress;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.KnownFailures;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.proxy.UpstreamException;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.bridge.SLF4JBridgeHandler;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line of the conformance product; its commands are subcommands. */
@Command(
        name = "dra-conformance",
        description = {"Tests DRA drivers in any language.", ""},
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        mixinStandardHelpOptions = true,
        versionProvider = ConformanceMain.Version.class,
        subcommands = {
            ConformanceMain.RunMain.class,
            BenchMain.class,
            ConformanceMain.InitMain.class,
            ConformanceMain.ListMain.class,
            RequirementMain.class,
            ConformanceMain.LeagueMain.class,
            PlayMain.class,
            ApiServerMain.class
        })
public final class ConformanceMain {

    /** The exit status without a result about a driver. */
    private static final int NO_ANSWER = 3;

    private static final List<Class<? extends Exception>> ACTIONABLE = List.of(
            SettingsException.class,
            UpstreamException.class,
            ApiRequestException.class,
            DriverUnusable.class,
            InvalidPathException.class,
            IOException.class);

    private ConformanceMain() {}

    /** Runs one command line; {@code --help} explains it. */
    public static void main(String[] args) {
        Locale.setDefault(Locale.ROOT); // the same words, numbers and ids on every machine
        configureLogging();
        System.exit(commandLine().execute(args));
    }

    /**
     * Warnings only, a line each on standard error. Set here, not in a file that is found by its name: on a class path,
     * the suite must not bring this program's logging along.
     */
    static void configureLogging() {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showLogName", "false");
        System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
        // It warns of connections that the proxy cuts, which is what the proxy is for.
        System.setProperty("org.slf4j.simpleLogger.log.org.eclipse.jetty", "error");
        // gRPC logs through java.util.logging, whose default handler also prints messages below a warning.
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
     * Prints the message of an exception that users can act on; anything else is a bug of the suite, which is shown
     * with its stack trace. Neither is a result about a driver.
     */
    private static int explainFailure(Throwable e, CommandLine command, ParseResult line) {
        PrintWriter err = command.getErr();
        if (ACTIONABLE.stream().anyMatch(type -> type.isInstance(e))) {
            err.println("dra-conformance: " + e.getMessage());
        } else if (e instanceof UncheckedIOException && e.getCause() != null) { // of this machine: its disk, its limits
            err.println(
                    "dra-conformance: " + e.getMessage() + ": " + e.getCause().getMessage());
        } else {
            err.println("dra-conformance: the suite itself failed; please report this:");
            e.printStackTrace(err);
        }
        return NO_ANSWER;
    }

    /** Rejects unknown words even where help is requested, in which case the parser ignores them. */
    private static int executeWithoutUnknownWords(ParseResult line) {
        for (CommandLine command : line.asCommandLineList()) {
            List<String> unknown = command.getParseResult().unmatched();
            if (!unknown.isEmpty()) {
                throw new UnmatchedArgumentException(command, unknown);
            }
        }
        try {
            return new CommandLine.RunLast().execute(line);
        } catch (LinkageError | AssertionError | VirtualMachineError e) {
            // picocli passes them on, and the JVM would end with the status of a broken MUST
            return explainFailure(e, line.commandSpec().commandLine(), line);
        }
    }

    /** Prints the error and a pointer to the help, one line each, without a page of usage. */
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
                ? "unknown command or option " + unmatched.getUnmatched().get(0)
                : String.valueOf(e.getMessage());
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = ConformanceMain.class.getPackage().getImplementationVersion();
            return new String[] {"dra-conformance " + (version == null ? "(unpackaged)" : version)};
        }
    }

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
                TestedDriverOptions.PLACES,
                "Exit status: 0 if all passed, 1 if a MUST is broken, 2 if a core profile is only partly tested or has known failures, 3 if the suite or the driver could not be run."
            })
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    static final class RunMain implements Callable<Integer> {

        @Mixin
        private RunOptions options;

        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            Settings settings = TestedDriverOptions.settings(spec);
            Path report = Path.of(settings.report());
            Reports.clear(report);
            Catalogue catalogue = Catalogue.load();
            KnownFailures knownFailures = settings.knownFailures().isEmpty()
                    ? KnownFailures.NONE
                    : KnownFailures.read(Path.of(settings.knownFailures()));
            TerminalProgress progress = new TerminalProgress(Terminal.of(System.out, Ansi.AUTO.enabled()));
            Engine engine = new Engine(settings, DriverAdapters.of(settings.driver()), catalogue, progress);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(engine, progress), "dra-conformance-end"));
            RunOutcome seen = engine.run();
            Set<String> known =
                    catalogue.requirements().stream().map(Requirement::id).collect(Collectors.toSet());
            KnownFailures.Applied applied = knownFailures.apply(seen.results(), known, LocalDate.now());
            List<String> notes = new ArrayList<>(seen.notes());
            notes.addAll(applied.notes());
            RunOutcome outcome = new RunOutcome(seen.header(), seen.profiles(), applied.results(), notes);
            List<Path> files = List.of();
            try {
                files = Reports.write(outcome, report);
                return outcome.exitCode();
            } finally {
                progress.finished(outcome, files);
            }
        }

        /** Does not print failures that the shutdown causes. */
        private static void end(Engine engine, TerminalProgress progress) {
            progress.silence();
            engine.close();
        }
    }

    @Command(
            name = "init",
            mixinStandardHelpOptions = true,
            description = {"Write settings with comments, to be filled in for a driver.", ""})
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    static final class InitMain implements Callable<Integer> {

        @Parameters(
                arity = "0..1",
                paramLabel = "FILE",
                defaultValue = "dra-conformance.yaml",
                description = "The file, which must not exist. Default: ${DEFAULT-VALUE}")
        private Path file;

        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            try (InputStream template = Optional.ofNullable(InitMain.class.getResourceAsStream("init.yaml"))
                    .orElseThrow()) {
                Files.copy(template, file);
                spec.commandLine()
                        .getOut()
                        .printf(
                                "%s is written. Fill in name and command, then: dra-conformance run --config %s%n",
                                file, file);
                return 0;
            } catch (FileAlreadyExistsException e) {
                throw new IOException(file + " exists already, and is not changed", e);
            } catch (IOException e) {
                throw new IOException("can't write " + file + ": " + e, e);
            }
        }
    }

    @Command(
            name = "list",
            sortOptions = false,
            mixinStandardHelpOptions = true,
            description = {"Print the requirements that drivers are tested against.", ""})
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    static final class ListMain implements Callable<Integer> {

        private static final int ID = 14;
        private static final int LEVEL = 9;
        private static final int PROFILE = 21;
        private static final int RULE = 56;
        private static final String MORE = "...";

        @Option(
                names = "--profile",
                paramLabel = "PROFILE",
                description = "Only the requirements of this profile; may be given several times.")
        private List<String> profiles = List.of();

        @Option(
                names = "--level",
                paramLabel = "LEVEL",
                description = "Only ${COMPLETION-CANDIDATES}; may be given several times.")
        private List<Level> levels = List.of();

        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() {
            Catalogue catalogue = Catalogue.load();
            checkProfiles(catalogue);
            List<Requirement> listed = catalogue.requirements().stream()
                    .filter(r -> profiles.isEmpty() || profiles.contains(r.profile()))
                    .filter(r -> levels.isEmpty() || levels.contains(r.level()))
                    .toList();
            PrintWriter out = spec.commandLine().getOut();
            out.print(table(listed));
            out.println();
            out.println(summary(catalogue, listed));
            out.flush();
            return 0;
        }

        private void checkProfiles(Catalogue catalogue) {
            List<String> known =
                    catalogue.profiles().stream().map(Profile::name).toList();
            for (String profile : profiles) {
                if (!known.contains(profile)) {
                    throw new ParameterException(
                            spec.commandLine(),
                            "unknown profile " + profile + "; known profiles are " + String.join(", ", known));
                }
            }
        }

        private static TextTable table(List<Requirement> listed) {
            TextTable table = TextTable.forColumns(
                    Help.defaultColorScheme(Ansi.OFF),
                    new Column(ID, 0, Overflow.TRUNCATE),
                    new Column(LEVEL, 0, Overflow.TRUNCATE),
                    new Column(PROFILE, 0, Overflow.TRUNCATE),
                    new Column(RULE, 0, Overflow.TRUNCATE));
            table.addRowValues("ID", "LEVEL", "PROFILE", "RULE");
            for (Requirement requirement : listed) {
                table.addRowValues(
                        requirement.id(),
                        requirement.level() + (requirement.strictMust() ? "*" : ""),
                        requirement.profile(),
                        shortened(requirement.rule()));
            }
            return table;
        }

        private static String shortened(String rule) {
            return rule.length() <= RULE ? rule : rule.substring(0, rule.lastIndexOf(' ', RULE - MORE.length())) + MORE;
        }

        private static String summary(Catalogue catalogue, List<Requirement> listed) {
            String counts = List.of(Level.values()).stream()
                    .map(level -> count(listed, level) + " " + level)
                    .collect(Collectors.joining(", "));
            boolean strict = listed.stream().anyMatch(Requirement::strictMust);
            return "%d requirements of catalogue %s: %s.%s%n`dra-conformance explain ID` shows more."
                    .formatted(listed.size(), catalogue.version(), counts, strict ? " * A MUST in a strict run." : "");
        }

        private static long count(List<Requirement> listed, Level level) {
            return listed.stream()
                    .filter(requirement -> requirement.level() == level)
                    .count();
        }
    }

    @Command(
            name = "league",
            mixinStandardHelpOptions = true,
            description = {"Print a Markdown page of the reports of several drivers.", ""})
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    static final class LeagueMain implements Callable<Integer> {

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

    /** The flags of {@code run}: those of the driver, of the selection, and of the reports. */
    @Command(resourceBundle = "io.dra4j.conformance.options")
    static final class RunOptions {

        @Mixin
        private final TestedDriverOptions driver = new TestedDriverOptions();

        @ArgGroup(validate = false, order = 5, heading = "%nThe requirements:%n")
        private final TriedGroup tried = new TriedGroup();

        @ArgGroup(validate = false, order = 6, heading = "%nThe report:%n")
        private final ReportGroup report = new ReportGroup();

        /** The selection of requirements. */
        private static final class TriedGroup {
            @Option(names = "--profile", split = ",", paramLabel = "NAME")
            private @Nullable List<String> profiles;

            @Option(names = "--only", split = ",", paramLabel = "ID")
            private @Nullable List<String> only;

            @Option(names = "--skip", split = ",", paramLabel = "ID")
            private @Nullable List<String> skip;

            @Option(names = "--strict")
            private @Nullable Boolean strict;

            @Option(names = "--soak")
            private @Nullable Boolean soak;
        }

        /** The reports and their places. */
        private static final class ReportGroup {
            @Option(names = "--report", paramLabel = "DIR")
            private @Nullable String report;

            @Option(names = "--known-failures", paramLabel = "FILE")
            private @Nullable String knownFailures;

            @Option(
                    names = "--deviations",
                    hidden = true,
                    description = "[knownFailures] The old name of --known-failures.")
            private @Nullable String deviations;

            @Option(names = "--implementation", paramLabel = "NAME=VALUE")
            private @Nullable Map<String, String> implementation;
        }
    }
}
