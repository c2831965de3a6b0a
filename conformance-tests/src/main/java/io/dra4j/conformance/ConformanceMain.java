// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command line of the conformance product; its commands are subcommands. */
@Command(
        name = "dra-conformance",
        description = {"Tries DRA drivers in any language.", ""},
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        mixinStandardHelpOptions = true,
        versionProvider = ConformanceMain.Version.class,
        subcommands = PlayMain.class)
public final class ConformanceMain {

    private ConformanceMain() {}

    /**
     * Runs one command.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        // Named here and not found by its usual name: a suite on a class path must not bring along
        // the logging of this program.
        System.setProperty("logback.configurationFile", "io/dra4j/conformance/logback-main.xml");
        CommandLine command = new CommandLine(new ConformanceMain());
        command.setUsageHelpWidth(100);
        System.exit(command.execute(args));
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = ConformanceMain.class.getPackage().getImplementationVersion();
            return new String[] {"dra-conformance " + (version == null ? "(unpackaged)" : version)};
        }
    }
}
