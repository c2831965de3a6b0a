// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import io.dra4j.kubectl.audit.AuditMain;
import io.dra4j.kubectl.doctor.DoctorMain;
import io.dra4j.kubectl.explain.ExplainMain;
import io.dra4j.kubectl.read.ReadException;
import io.dra4j.kubectl.tree.TreeMain;
import java.io.PrintWriter;
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
        description = {"Answers questions about the devices of a cluster. Reads, and never writes.", ""},
        footer = {"", "Exit status: 2 if the command line is wrong, 3 if the cluster can't be read."},
        subcommands = {ExplainMain.class, TreeMain.class, DoctorMain.class, AuditMain.class})
public final class KubectlDraMain {

    private static final int USAGE = 2;
    private static final int UNREADABLE = 3;

    private KubectlDraMain() {}

    /**
     * Runs one command.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
        System.exit(commandLine().execute(args));
    }

    /** The command line as {@link #main} runs it. */
    static CommandLine commandLine() {
        return new CommandLine(new KubectlDraMain())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(KubectlDraMain::refuse)
                .setExecutionExceptionHandler(KubectlDraMain::fail);
    }

    private static int refuse(ParameterException e, String[] args) {
        PrintWriter err = e.getCommandLine().getErr();
        err.println("kubectl dra: " + e.getMessage());
        err.println("Run it with --help to see its commands and options.");
        return USAGE;
    }

    private static int fail(Exception e, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
        if (e instanceof ReadException) {
            command.getErr().println("kubectl dra: " + e.getMessage());
            return UNREADABLE;
        }
        throw e;
    }

    /** The version of the jar. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = KubectlDraMain.class.getPackage().getImplementationVersion();
            return new String[] {"kubectl dra " + (version == null ? "(unpackaged)" : version)};
        }
    }
}
