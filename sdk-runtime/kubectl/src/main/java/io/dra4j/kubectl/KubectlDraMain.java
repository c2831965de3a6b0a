// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import io.dra4j.allocator.model.InvalidObjectException;
import io.dra4j.kubectl.audit.AuditMain;
import io.dra4j.kubectl.doctor.DoctorMain;
import io.dra4j.kubectl.explain.ExplainMain;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ReadException;
import io.dra4j.kubectl.tree.TreeMain;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** The program {@code kubectl-dra}, which kubectl runs as {@code kubectl dra}. */
@Command(
        name = "kubectl dra",
        mixinStandardHelpOptions = true,
        versionProvider = KubectlDraMain.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        description = {"Answers questions about the devices of a cluster. It only reads, and changes nothing.", ""},
        footer = {"", "Exit status: 2 if the command line is wrong, 3 if the cluster or the file can't be read."})
public final class KubectlDraMain {

    private static final String COMPLETE = "__complete";
    private static final List<String> COMMANDS = List.of("explain", "tree", "doctor", "audit");
    private static final int USAGE = 2;
    private static final int UNREADABLE = 3;

    private KubectlDraMain() {}

    /**
     * Runs one command.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) throws InterruptedException {
        Locale.setDefault(Locale.ROOT); // the same digits on every machine
        if (args.length > 1 && args[0].equals(COMPLETE)) {
            System.out.print(completions(Arrays.copyOfRange(args, 1, args.length)));
            return;
        }
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
        System.setProperty("jdk.http.auth.tunneling.disabledSchemes", ""); // or proxies get no password
        Thread connection = new Thread(ApiReader::prepare, "connection");
        connection.setDaemon(true);
        connection.setUncaughtExceptionHandler(
                (thread, problem) -> {}); // the command fails in the same way and reports it
        connection.start();
        int status = commandLine(args).execute(args);
        ApiReader.endConnections();
        System.exit(status);
    }

    /** Completes the last word in kubectl's format: one word per line, then whether the shell may add file names. */
    static String completions(String... words) {
        String last = words[words.length - 1];
        List<CharSequence> rests = new ArrayList<>();
        AutoComplete.complete(
                commandLine().getCommandSpec(), words, words.length - 1, last.length(), last.length(), rests);
        Stream<String> found = rests.stream().map(rest -> last + rest).sorted();
        return Stream.concat(found, Stream.of(rests.isEmpty() ? ":0" : ":4"))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /** The command line that {@link #main} runs: with the first argument's command only, or with all commands. */
    static CommandLine commandLine(String... args) {
        CommandLine line = new CommandLine(new KubectlDraMain());
        boolean isNamed = args.length > 0 && COMMANDS.contains(args[0]); // each takes time to read its options
        (isNamed ? List.of(args[0]) : COMMANDS).forEach(name -> line.addSubcommand(command(name)));
        return line.setOverwrittenOptionsAllowed(true) // the last one counts, as for kubectl
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(KubectlDraMain::refuse)
                .setExecutionExceptionHandler(KubectlDraMain::fail);
    }

    private static Callable<Integer> command(String name) {
        return switch (name) {
            case "explain" -> new ExplainMain();
            case "tree" -> new TreeMain();
            case "doctor" -> new DoctorMain();
            default -> new AuditMain();
        };
    }

    private static int refuse(ParameterException e, String[] args) {
        PrintWriter err = e.getCommandLine().getErr();
        err.println("kubectl dra: " + e.getMessage());
        err.println("Run it with --help to see its commands and options.");
        return USAGE;
    }

    private static int fail(Exception e, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
        if (e instanceof ReadException || e instanceof InvalidObjectException) {
            command.getErr().println("kubectl dra: " + e.getMessage());
            return UNREADABLE;
        }
        throw e;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = KubectlDraMain.class.getPackage().getImplementationVersion();
            return new String[] {"kubectl dra " + (version == null ? "(unpackaged)" : version)};
        }
    }
}
