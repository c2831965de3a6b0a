// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.error.DraException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/**
 * Prints what NVML says, and what would be published. It needs no cluster and no root, and changes
 * nothing.
 *
 * <p>The exit status is 0, 1 if NVML can't be used, and 2 if the command line is wrong.
 */
@Command(name = "dra4j-nvidia-driver", synopsisSubcommandLabel = "probe")
final class ProbeMain {

    private static final int FAILURE = 1;
    private static final int WIDTH = 100;

    private final PrintStream out;
    private final PrintStream err;

    ProbeMain(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Says whether a command line is one for this program. */
    static boolean isFor(String[] args) {
        return args.length > 0 && args[0].equals("probe");
    }

    int execute(String[] args) {
        return new CommandLine(this)
                .addSubcommand(new Probe())
                .setOut(new PrintWriter(out, true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(err, true, StandardCharsets.UTF_8))
                .setUsageHelpWidth(WIDTH)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(args);
    }

    /** How it is printed. */
    enum Output {
        /** For people. */
        table,
        /** The ResourceSlices. */
        yaml
    }

    /** Prints it. */
    @Command(
            name = "probe",
            sortOptions = false,
            description = {
                "Prints what NVML says of this node's GPUs, and the devices that would be published.",
                "It needs no cluster and changes nothing; where MIG devices can be, only root is"
                        + " told.",
                ""
            })
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    static final class Probe implements Callable<Integer> {

        @ParentCommand private ProbeMain main;

        @Mixin private InstallOptions install;

        @Option(
                names = "--node-name",
                order = 10,
                paramLabel = "NAME",
                defaultValue = "${env:NODE_NAME:-this-node}",
                description = {
                    "The node, for the slices. [NODE_NAME]",
                    "Default: ${DEFAULT-VALUE}"
                })
        private String nodeName;

        @Option(
                names = {"-o", "--output"},
                order = 11,
                paramLabel = "FORMAT",
                defaultValue = "table",
                description = {
                    "table, or yaml: the ResourceSlices themselves.",
                    "Default: ${DEFAULT-VALUE}"
                })
        private Output output;

        @Option(
                names = {"-h", "--help"},
                order = 12,
                usageHelp = true,
                description = "Show this help and exit.")
        private boolean help;

        @Override
        public Integer call() {
            try {
                main.out.print(ProbeReport.of(install, nodeName).as(output));
                return 0;
            } catch (DraException e) {
                main.err.println("dra4j-nvidia-driver: " + e.getMessage());
                return FAILURE;
            }
        }
    }
}
